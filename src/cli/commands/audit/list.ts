import { defineCommand } from '../../command/spec.ts';
import * as option from '../../options/option.ts';
import { readTime } from '../../options/time.ts';
import { auditView } from '../../records/views/history-views.ts';

export const command = defineCommand({
  summary: 'List who changed what, newest first',
  options: {
    action: option.text('--action <action>', 'only this action, such as device.revoke'),
    subject: option.text('--subject <id>', 'only changes of the record with this id'),
    since: option.text(
      '--since <time>',
      'from this time on: 2h for two hours ago, 2026-11-20 or 2026-11-20T08:00:00Z',
    ),
    until: option.text('--until <time>', 'before this time, in the same formats'),
  },
  examples: [
    ['signage audit list --limit 20', 'the latest changes'],
    [
      'signage audit list --action device.revoke --since 7d',
      'devices revoked in the last seven days',
    ],
    [
      'signage audit list --since 2026-11-01 --until 2026-12-01 -o ndjson',
      'one month, one JSON object per line',
    ],
  ],
  operation: 'listAudit',
  effect: 'reads',
  list: true,
  async run(call) {
    const { action, subject, since, until } = call.options;
    const nowMs = call.clock.now();
    const time = (text: string, source: string) =>
      new Date(readTime(text, { source, nowMs, spans: 'ago' })).toISOString();
    const query = {
      ...(action !== undefined && { action }),
      ...(subject !== undefined && { subjectId: subject }),
      ...(since !== undefined && { from: time(since, '--since') }),
      ...(until !== undefined && { to: time(until, '--until') }),
    };
    await call.list('listAudit', auditView, { query });
  },
});
