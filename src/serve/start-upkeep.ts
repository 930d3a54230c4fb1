import type { LogSink } from '../domain/log.ts';
import type { MediaStore } from '../media/media-store.ts';
import type { WebhookSender } from '../network/webhook-sender.ts';
import { startClockWatch } from '../service/clock-watch.ts';
import { startHousekeeping } from '../service/housekeeping.ts';
import { startMediaUpkeep } from '../service/media/media-upkeep.ts';
import { startNoticeWatch } from '../service/notices/notice-watch.ts';
import type { makeServices } from '../service/services.ts';
import { startWebhookDelivery } from '../service/webhooks/webhook-delivery.ts';

interface UpkeepParts {
  checked: { retentionDays: number };
  media: { files: MediaStore | undefined };
  webhookSender: WebhookSender;
  log: LogSink;
}

/** Starts what the services do in the background. Returns the functions that stop it. */
export function startUpkeep(
  services: ReturnType<typeof makeServices>,
  { checked, media, webhookSender, log }: UpkeepParts,
): (() => Promise<void>)[] {
  const { deps } = services;
  const startDelivery = () =>
    startWebhookDelivery(deps, { ...services, sender: webhookSender, log });
  services.mirror?.start();
  return [
    startHousekeeping(deps, checked.retentionDays, log),
    startNoticeWatch({ ...deps, ...services, startDelivery }, log),
    ...(media.files ? [startMediaUpkeep(deps, media.files, log)] : []),
    startClockWatch(deps, log),
  ];
}
