import { member, type View } from '../output/view.ts';

/** What one look at one thing found. */
export interface Finding {
  /** What was looked at: `clock`, `playlist`. */
  check: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** The command to type next, where there is one. */
  next: string | null;
}

const finding =
  (status: Finding['status']) =>
  (check: string, detail: string, next: string | null = null): Finding => ({
    check,
    status,
    detail,
    next,
  });

export const ok = finding('ok');
export const warn = finding('warn');
export const fail = finding('fail');

export const findingView: View<Finding> = {
  columns: [member('check'), member('status'), member('detail'), member('next')],
  nameOf: ({ check, status }) => `${check} ${status}`,
};
