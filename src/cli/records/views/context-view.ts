import { member, type View } from '../../output/view.ts';

/** A context without its token. */
export interface ContextRow {
  name: string;
  current: boolean;
  url: string;
  tenantId: string | null;
}

export const contextView: View<ContextRow> = {
  columns: [member('name'), member('current'), member('url'), member('tenantId', { wide: true })],
  nameOf: ({ name }) => name,
};
