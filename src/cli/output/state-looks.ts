import type { Look } from '../terminal/colours.ts';

/** Columns whose words are states. */
const stateColumns = ['state', 'status', 'result'];

const looks: Readonly<Record<string, Look>> = {
  ok: 'good',
  active: 'good',
  bound: 'good',
  paired: 'good',
  used: 'good',
  '✓': 'good',
  failing: 'warning',
  pending: 'warning',
  dark: 'bad',
  failed: 'bad',
  '✗': 'bad',
  unpaired: 'faint',
  provisioning: 'faint',
  suspended: 'faint',
  superseded: 'faint',
  withdrawn: 'faint',
  expired: 'faint',
  cancelled: 'faint',
  unchanged: 'faint',
  '–': 'faint',
};

/** Returns the colour of a cell. `undefined`: it is no state, or a state without a colour. */
export function lookOfState(column: string, text: string): Look | undefined {
  return stateColumns.includes(column) && Object.hasOwn(looks, text) ? looks[text] : undefined;
}
