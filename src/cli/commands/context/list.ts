import { readContexts } from '../../api/contexts.ts';
import { defineCommand } from '../../command/spec.ts';
import { type ContextRow, contextView } from '../../records/views/access-views.ts';

export const command = defineCommand({
  summary: 'List the saved contexts',
  description: 'Tokens are never shown.',
  examples: [
    ['signage context list', 'all'],
    ['signage context list --jq ".[] | select(.current).url"', 'the service that commands use'],
  ],
  effect: 'reads',
  local: true,
  async run(call) {
    const { contexts, current } = await readContexts(call.io);
    const rows = Object.entries(contexts).map(([name, { url, tenant }]): ContextRow => {
      return { name, current: name === current, url, tenantId: tenant ?? null };
    });
    await call.results.list(onePage(rows), contextView);
  },
});

async function* onePage<T>(rows: readonly T[]): AsyncGenerator<readonly T[]> {
  yield rows;
}
