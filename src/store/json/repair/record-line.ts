import { shapeOf } from '../../dump/records.ts';
import { activityDocument } from '../activity/last-activity.ts';
import { lineParsers } from '../dump/state-source.ts';
import { idempotencyDocument } from '../events/idempotency-keys.ts';
import { sequenceDocument } from '../events/sequences.ts';
import { rollupDocument } from '../rollups/rollups.ts';

/** By the kind of a document without rows: whether a line is one of its records. */
const checks: Record<string, (text: string, name: string) => boolean> = {
  rings(text, name) {
    const record = shapeOf('idempotency').schema.parse(lineParsers.rings(text));
    return idempotencyDocument(record.deviceId) === name;
  },
  sequences(text, name) {
    const record = shapeOf('sequences').schema.parse(lineParsers.sequences(text));
    return sequenceDocument(record.deviceId) === name;
  },
  rollups(text, name) {
    const clock = name.startsWith('rollups-received-') ? 'received' : 'timestamp';
    const { day } = shapeOf('impressions').schema.parse(lineParsers.rollups(text, clock));
    return rollupDocument(clock, day) === name;
  },
  marks(text, name) {
    const { id } = shapeOf('marks').schema.parse(lineParsers.marks(text));
    return activityDocument(id) === name;
  },
};

/** Whether an undamaged line is a record that its document may hold. */
export function isRecordLine(text: string, { name }: { name: string }): boolean {
  try {
    return checks[name.slice(0, name.indexOf('-'))]?.(text, name) ?? false;
  } catch {
    return false;
  }
}
