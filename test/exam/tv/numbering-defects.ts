import type { SeededDefect } from './seeded-defect.ts';
import { numbering } from './styles.ts';

/** Defects of the optional `seq` and `X-Device-Time` (docs/protocol.md §2.5). */
export const numberingDefects: Readonly<Record<string, SeededDefect>> = {
  'numbers only its impressions': {
    habits: { ...numbering, numbersType: (type) => type === 'impression' },
    fails: ['tv.seq.each-event'],
  },
  'sends its numbers as text': {
    habits: { ...numbering, sentSeq: String },
    fails: ['tv.seq.each-event'],
  },
  'leaves out each fifth number': {
    habits: { ...numbering, nextSeq: (seq) => (seq % 5 === 4 ? seq + 2 : seq + 1) },
    fails: ['tv.seq.no-gap'],
  },
  'leaves out a number after a power cut': {
    habits: { ...numbering, afterPowerCut: (state) => ({ ...state, nextSeq: state.nextSeq + 1 }) },
    fails: ['tv.seq.no-gap'],
  },
  'numbers its events from 1 after a power cut': {
    habits: { ...numbering, afterPowerCut: (state) => ({ ...state, nextSeq: 1 }) },
    fails: ['tv.seq.unique'],
  },
  'sends X-Device-Time in seconds': {
    habits: { ...numbering, deviceTime: (nowMs) => String(Math.floor(nowMs / 1000)) },
    fails: ['tv.device-time.sent'],
  },
  'sends X-Device-Time as a date': {
    habits: { ...numbering, deviceTime: (nowMs) => new Date(nowMs).toISOString() },
    fails: ['tv.device-time.sent'],
  },
  'stores X-Device-Time with the batch': {
    habits: {
      ...numbering,
      deviceTime: (_, { events }) => String(1000 * Number(events.at(-1)?.timestamp)),
    },
    fails: ['tv.device-time.anew'],
  },
};
