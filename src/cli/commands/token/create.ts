import type { CallAnswer } from '../../../client/call.ts';
import { SignageError } from '../../../domain/error.ts';
import type { Call } from '../../call.ts';
import { defineCommand } from '../../command-spec.ts';
import * as option from '../../option.ts';
import { type ReservedFile, reserveFile } from '../../reserved-file.ts';
import { roleOption } from '../../role-option.ts';
import { createdTokenView, tokenView } from '../../views/token-view.ts';

/** Keeps a token that was just made. One that cannot be kept is deleted again: nobody has it. */
async function keep(call: Call, path: string, file: ReservedFile, { id, token }: CallAnswer<'createToken'>): Promise<void> {
  try {
    await file.write(token);
  } catch (error) {
    await call.change('deleteToken', { params: { id } });
    const why = (error as Error).message;
    throw new SignageError('token_not_kept', `${path} cannot be written: ${why}. The token was deleted again.`, { cause: error });
  }
}

async function createInto(call: Call, path: string, body: { name: string; role: typeof roleOption.initial }): Promise<void> {
  const file = await reserveFile(path, '--output-file');
  try {
    const made = await call.change('createToken', { body });
    if (!made) return;
    await keep(call, path, file, made.answer);
    const { token: _kept, ...known } = made.answer;
    await call.results.record(known, tokenView);
    call.note(`The token is in ${path}.`);
  } catch (error) {
    await file.discard();
    throw error;
  }
}

export const command = defineCommand({
  summary: 'Make a management token',
  description:
    'The token itself is in this one result and can never be shown again. With --output-file it goes into a new file that only you ' +
    'may read, and not into the result: no terminal and no log sees it. --token-file, of every command, reads such a file.',
  options: {
    name: option.needed('--name <name>', 'what people call it; unique in the tenant'),
    role: roleOption,
    outputFile: option.text('--output-file <file>', 'a new file to write the token to, in place of showing it'),
  },
  examples: [
    ['signage token create --name "Front desk" --role viewer', 'shows the token, this once'],
    ['signage token create --name CI --role operator --output-file ci.token', 'the token goes into the file alone'],
    ['signage token create --name CI --role operator --jq .token', 'for scripts: prints the token alone'],
  ],
  operation: 'createToken',
  effect: 'changes',
  hints: { name_taken: 'It is there already: signage token get {name}' },
  async run(call) {
    const { name, role, outputFile } = call.options;
    const body = { name, role };
    if (outputFile !== undefined && !call.common.dryRun) return createInto(call, outputFile, body);
    const made = await call.change('createToken', { body });
    if (!made) return;
    await call.results.record(made.answer, createdTokenView);
    call.note('Keep the token safe: it is not shown again.');
  },
});
