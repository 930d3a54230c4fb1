import { member, type View } from '../output/view.ts';
import { isPrintable } from '../terminal/escape.ts';
import type { Applied } from './apply-plan.ts';
import type { Planned } from './plan-site.ts';

/** One difference as an output row. */
export interface DifferenceLine {
  change: Planned['change'];
  kind: Planned['kind'];
  name: string;
  id: string | null;
  member: string;
  from: unknown;
  to: unknown;
}

export const differenceLines = (plans: readonly Planned[]): DifferenceLine[] =>
  plans.flatMap(({ change, kind, name, current, differences }) =>
    differences.map((one) => ({ change, kind, name, id: current?.id ?? null, ...one })),
  );

/** Shortens a value: lists and playlists become their number of items. */
function brief(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? '1 item' : `${value.length} items`;
  const items =
    typeof value === 'object' && value !== null ? (value as { items?: unknown }).items : undefined;
  return Array.isArray(items) ? brief(items) : value;
}

const nameOf = ({ name, id }: { name: string; id: string | null }) =>
  isPrintable(name) ? name : (id ?? name);

export const differenceView: View<DifferenceLine> = {
  columns: [
    member('change'),
    member('kind'),
    member('name'),
    member('member'),
    { name: 'from', value: ({ from }) => brief(from) },
    { name: 'to', value: ({ to }) => brief(to) },
    member('id', { wide: true }),
  ],
  nameOf,
};

export const appliedView: View<Applied> = {
  columns: [
    member('result'),
    member('kind'),
    member('name'),
    { name: 'changed', value: ({ changed }) => changed.join(', ') },
    member('error'),
    member('id', { wide: true }),
  ],
  nameOf,
};
