import { defineCommand } from '../command/spec.ts';
import { identityView } from '../records/views/access-views.ts';

export const command = defineCommand({
  summary: 'Show which token and which service commands use',
  examples: [
    ['signage whoami', 'the current token'],
    ['signage whoami --context work -o json --jq .role', 'for scripts: prints the role alone'],
  ],
  effect: 'reads',
  async run(call) {
    const { context, url, token } = await call.profile();
    const me = await call.read('getMe');
    const sources = {
      context: context ?? null,
      url: url.value,
      urlSource: url.source,
      tokenSource: token?.source ?? 'none',
    };
    const identity = { ...me, ...sources };
    await call.results.record(identity, identityView(call, identity, call.clock.now()));
  },
});
