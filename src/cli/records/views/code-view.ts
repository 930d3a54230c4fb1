import type { CallAnswer } from '../../../client/call.ts';
import type { CommandContext } from '../../command/context.ts';
import { groupedCode } from '../../options/pairing-code.ts';
import type { Format } from '../../options/shared.ts';
import { type Column, member, type View } from '../../output/view.ts';
import { screenPath } from '../screen-path.ts';

type Code = CallAnswer<'createCode'>;
type CodeStatus = CallAnswer<'getCodeStatus'>;

/** The forms for people. They show a code in two groups. */
const forPeople: readonly (Format | undefined)[] = [undefined, 'table', 'wide'];

/** Returns the columns of every code. */
async function columnsOf(
  { common, read, all, pages }: CommandContext,
  screenId: string,
): Promise<Column<Code>[]> {
  const reader = { read, all, pages };
  const screen = await screenPath(reader, await read('getScreen', { params: { id: screenId } }));
  return [
    {
      name: 'code',
      value: ({ code }) => (forPeople.includes(common.output) ? groupedCode(code) : code),
    },
    { name: 'screen', value: () => screen },
    member('status'),
    member('expiresAt'),
    member('expiresInSeconds'),
    member('screenId', { wide: true }),
    member('createdAt', { wide: true }),
  ];
}

const nameOf = ({ code }: Code) => code;

/** The view of a new code. */
export const createdCodeView =
  (call: CommandContext, { screenId }: Code) =>
  async (): Promise<View<Code>> => ({
    columns: await columnsOf(call, screenId),
    nameOf,
  });

/** The view of a code with its status. */
export const codeStatusView =
  (call: CommandContext, { screenId }: CodeStatus) =>
  async (): Promise<View<CodeStatus>> => ({
    columns: [...(await columnsOf(call, screenId)), member('usedAt'), member('deviceId')],
    nameOf,
  });
