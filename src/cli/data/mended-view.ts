import { member, type View } from '../output/view.ts';

/** What a repair left out or made up for. */
interface Mended {
  file: string;
  offset: number | null;
  what: string;
  lost: number | null;
}

export const mendedView: View<Mended> = {
  columns: [member('file'), member('offset'), member('what'), member('lost')],
  nameOf: ({ file }) => file,
};
