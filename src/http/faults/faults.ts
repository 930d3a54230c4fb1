import type { Random } from '../../domain/clock.ts';
import { fraction } from '../../domain/rule-text.ts';
import type { FaultEffect } from './fault-effect.ts';
import { type FaultRule, readFaultRule } from './fault-rule.ts';
import { isTarget, segmentsOf } from './fault-target.ts';

/** What one request has coming. */
interface Hit {
  /** The rules that it met, as they were written. */
  rules: readonly string[];
  delayMs: number;
  effect: Exclude<FaultEffect, { kind: 'delay' }> | undefined;
}

/** What goes wrong on purpose. */
export interface Faults {
  /** The rules as they were written. */
  rules: readonly string[];
  /** What happens to a request; `undefined` when nothing does. Each call is one request: it counts towards `every` and `first`. */
  of(method: string, path: string): Hit | undefined;
}

function delayOf({ effect }: FaultRule, random: Random): number {
  return effect.kind === 'delay'
    ? effect.fromMs + Math.floor(fraction(random) * (effect.toMs - effect.fromMs + 1))
    : 0;
}

/** Reads the rules. Delays add up; of all else, the first rule whose turn it is decides. Throws `invalid_option` for a rule that is none. */
export function makeFaults(texts: readonly string[], random: Random): Faults {
  const rules = texts.map((text) => readFaultRule(text, random));
  return {
    rules: texts,
    of(method, path) {
      const segments = segmentsOf(path);
      const turns = rules.filter(
        ({ target, isTurn }) => isTarget(target, method, segments) && isTurn(),
      );
      const delays = turns.filter(({ effect }) => effect.kind === 'delay');
      const decisive = turns.find(({ effect }) => effect.kind !== 'delay');
      const met = turns.filter((rule) => rule === decisive || delays.includes(rule));
      if (met.length === 0) return undefined;
      const delayMs = delays.reduce((sum, rule) => sum + delayOf(rule, random), 0);
      return {
        rules: met.map(({ text }) => text),
        delayMs,
        effect: decisive?.effect as Hit['effect'],
      };
    },
  };
}
