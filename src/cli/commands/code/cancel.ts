import { defineCommand, many } from '../../command/spec.ts';
import { readCodeWords } from '../../options/pairing-code.ts';

export const command = defineCommand({
  summary: 'Cancel a pending pairing code',
  description: `TVs can no longer register with it. Does not ask first, because a new code is
quickly created.`,
  arguments: { code: many('the code, such as ABCD2345 or abcd-2345; - reads it from stdin') },
  examples: [
    ['signage code cancel ABCD 2345', 'typed as the screen shows it'],
    ['signage code cancel -', 'reads it from stdin, which hides it from the process list'],
  ],
  operation: 'cancelCode',
  effect: 'changes',
  hints: {
    pairing_code_not_found:
      'Codes never contain 0, O, 1, I or L. The service deletes a code a day after it ends.',
  },
  async run(call) {
    const code = await readCodeWords(call.io, call.args.code);
    const made = await call.change('cancelCode', { params: { code } });
    if (made) call.note('Cancelled the code.');
  },
});
