import { defineCommand, many } from '../../command/spec.ts';
import { readCodeWords } from '../../options/pairing-code.ts';

export const command = defineCommand({
  summary: 'Cancel a pending pairing code',
  description:
    'No TV can register with it from then on. It does not ask: another code is made in a moment.',
  arguments: { code: many('the code in any spelling, such as abcd-2345; - reads it from stdin') },
  examples: [
    ['signage code cancel ABCD 2345', 'as it is read off the screen'],
    [
      'signage code cancel -',
      'reads it from stdin, so that it is not seen in the list of processes',
    ],
  ],
  operation: 'cancelCode',
  effect: 'changes',
  hints: {
    pairing_code_not_found:
      'Codes have no 0, O, 1, I or L. They are forgotten a day after their end.',
  },
  async run(call) {
    const code = await readCodeWords(call.io, call.args.code);
    const made = await call.change('cancelCode', { params: { code } });
    if (made) call.note('Cancelled the code.');
  },
});
