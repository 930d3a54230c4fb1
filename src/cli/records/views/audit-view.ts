import type { ListItem } from '../../../client/call.ts';
import { member, type View } from '../../output/view.ts';

/** Returns `token CI`, `device 0190…` or `system`. */
const titled = ({ kind, id, name }: { kind: string; id: string | null; name?: string | null }) =>
  [kind, name ?? id ?? ''].join(' ').trimEnd();

export const auditView: View<ListItem<'listAudit'>> = {
  columns: [
    member('at'),
    { name: 'actor', value: ({ actor }) => titled(actor) },
    member('action'),
    { name: 'subject', value: ({ subject }) => titled(subject) },
    {
      name: 'details',
      value: ({ details }) =>
        Object.fromEntries(
          Object.entries(details).map(([name, value]) => [name, String(value ?? '')]),
        ),
    },
    member('address', { wide: true }),
    { name: 'actorId', value: ({ actor }) => actor.id, wide: true },
    member('requestId', { wide: true }),
    member('id', { wide: true }),
  ],
  nameOf: ({ id }) => id,
};
