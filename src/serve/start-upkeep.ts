import type { LogSink } from '../domain/log.ts';
import type { MediaStore } from '../media/media-store.ts';
import type { WebhookSender } from '../network/webhook-sender.ts';
import { startHousekeeping } from '../service/assembly/housekeeping.ts';
import type { makeServices } from '../service/assembly/services.ts';
import { startClockWatch } from '../service/clock-watch.ts';
import { startMediaUpkeep } from '../service/media/media-upkeep.ts';
import { startNoticeWatch } from '../service/notices/notice-watch.ts';
import type { ObservedStore } from '../service/observed-store.ts';
import { startSealing } from '../service/statements/sealing.ts';
import type { StatementOptions } from '../service/statements/statement-key.ts';
import { startContentUpkeep } from '../service/versions/content-upkeep.ts';
import { WebhookDispatcher } from '../service/webhooks/webhook-dispatcher.ts';

interface UpkeepParts {
  checked: { retentionDays: number };
  media: { files: MediaStore | undefined };
  webhookSender: WebhookSender;
  statements: StatementOptions;
  observed: Pick<ObservedStore, 'onChange'>;
  log: LogSink;
}

/** Starts what the services do in the background. Returns the functions that stop it. */
export function startUpkeep(
  services: ReturnType<typeof makeServices>,
  { checked, media, webhookSender, statements, observed, log }: UpkeepParts,
): (() => Promise<void>)[] {
  const { deps } = services;
  const { files } = media;
  const sweepUploads = services.mediaUploads.sweep;
  const startDelivery = () => {
    const dispatcher = new WebhookDispatcher(deps, { ...services, sender: webhookSender, log });
    const stops = [dispatcher.start(), startSealing(deps, statements, log)];
    return async () => {
      await Promise.all(stops.map((stop) => stop()));
    };
  };
  services.mirror?.start();
  return [
    startHousekeeping(deps, checked.retentionDays, log),
    startContentUpkeep(deps.store, observed.onChange, log),
    startNoticeWatch({ ...deps, ...services, startDelivery }, log),
    ...(files ? [startMediaUpkeep(deps, { files, sweepUploads, log })] : []),
    startClockWatch(deps, log),
  ];
}
