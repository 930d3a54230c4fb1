import type { View } from '../../output/view.ts';
import { members } from '../../output/view.ts';

export interface DoctorFinding {
  /** Name of the check, such as `clock` or `playlist`. */
  check: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** The command to run next, or `null`. */
  next: string | null;
}

const finding =
  (status: DoctorFinding['status']) =>
  (check: string, detail: string, next: string | null = null): DoctorFinding => ({
    check,
    status,
    detail,
    next,
  });

export const ok = finding('ok');
export const warn = finding('warn');
export const fail = finding('fail');

export const findingView: View<DoctorFinding> = {
  columns: members<DoctorFinding>('check', 'status', 'detail', 'next'),
  marked: ({ check, status, detail, next }) => ({
    mark: status,
    text: `${check}: ${detail}`,
    next,
  }),
  nameOf: ({ check, status }) => `${check} ${status}`,
};
