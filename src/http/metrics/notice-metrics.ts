import type { Registry } from 'prom-client';
import type { NoticeFigures } from '../../service/notices/notice-figures.ts';
import { collect } from './collected.ts';

const samplesOf = (label: string, counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).map(([value, count]) => [{ [label]: value }, count] as const);

/** Registers the metrics of notices and webhooks. */
export function watchNotices(
  register: Registry,
  figures: NoticeFigures,
  nowMs: () => number,
): void {
  const notices = {
    name: 'signage_notices_total',
    help: 'Notices of all tenants, by type.',
    labelNames: ['type'],
  };
  const alarms = {
    name: 'signage_open_alarms',
    help: 'Screens and venues that are told to be dark or failing, and have not recovered.',
    labelNames: ['kind'],
  };
  const attempts = {
    name: 'signage_webhook_attempts_total',
    help: 'Attempts to deliver a notice to a webhook, by outcome.',
    labelNames: ['outcome'],
  };
  const webhooks = {
    name: 'signage_webhooks',
    help: 'Webhooks of all tenants, by state.',
    labelNames: ['state'],
  };
  const oldest = {
    name: 'signage_webhook_oldest_seconds',
    help: 'Age of the oldest notice that waits for an active webhook; 0 if none waits.',
  };
  const oldestSeconds = () => {
    const at = figures.oldestWaitingAt();
    return at === undefined ? 0 : Math.max(0, (nowMs() - at) / 1000);
  };
  collect(register, 'counter', notices, () => samplesOf('type', figures.notices));
  collect(register, 'gauge', alarms, () => samplesOf('kind', figures.openAlarms));
  collect(register, 'counter', attempts, () => samplesOf('outcome', figures.attempts));
  collect(register, 'gauge', webhooks, () => samplesOf('state', figures.webhooks()));
  collect(register, 'gauge', oldest, () => [[{}, oldestSeconds()]]);
}
