import type { OptionRules } from '../options/check-options.ts';
import {
  amount,
  callable,
  clockShape,
  flag,
  listOf,
  settings,
  signalShape,
  storeLocation,
  text,
  whole,
  withFunctions,
} from '../options/shapes.ts';
import type { TvExamOptions } from './parts/options.ts';
import { partIds } from './parts/part-ids.ts';

const phase = amount('a number of seconds');

export const examRules: OptionRules<TvExamOptions> = {
  of: 'runTvExam',
  shapes: {
    onCode: callable,
    host: text,
    port: whole(0, 65_535),
    quick: flag,
    pace: amount('a number'),
    retryAfterSeconds: amount('a number of seconds', { min: 0 }),
    pairingSeconds: amount('a number of seconds'),
    maxMinutes: amount('a number of minutes'),
    phases: settings({
      failing: phase,
      dark: phase,
      away: phase,
      offline: phase,
      unpaired: phase,
      ending: phase,
      ended: phase,
    }),
    parts: listOf(...partIds),
    store: storeLocation(text),
    memory: withFunctions('load', 'save'),
    onStep: callable,
    onRefused: callable,
    power: withFunctions('off', 'on'),
    signal: signalShape,
    clock: clockShape,
    random: callable,
  },
  required: ['onCode'],
  secret: ['store'],
};
