import { member, type View } from '../output/view.ts';

/** What a check of a data folder has found. */
interface Found {
  level: string;
  file: string;
  offset: number | null;
  what: string;
}

export const findingsView: View<Found> = {
  columns: [member('level'), member('file'), member('offset'), member('what')],
  nameOf: ({ file }) => file,
};
