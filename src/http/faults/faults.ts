import type { Random } from '../../domain/clock.ts';
import { randomFraction } from '../../domain/rule-text.ts';
import type { FaultEffect } from './fault-effect.ts';
import { type FaultRule, readFaultRule } from './fault-rule.ts';
import { isTarget, segmentsOf } from './fault-target.ts';

/** The faults that apply to one request. */
interface InjectedFaults {
  /** The texts of the rules that apply. */
  rules: readonly string[];
  delayMs: number;
  effect: Exclude<FaultEffect, { kind: 'delay' }> | undefined;
}

/** The fault rules of a service. */
export interface Faults {
  /** The texts of all rules. */
  rules: readonly string[];
  /**
   * Returns the faults for a request, or `undefined`. Call it once per request: each call counts
   * towards `every` and `first`.
   */
  faultsFor(method: string, path: string): InjectedFaults | undefined;
}

function delayOf({ effect }: FaultRule, random: Random): number {
  return effect.kind === 'delay'
    ? effect.fromMs + Math.floor(randomFraction(random) * (effect.toMs - effect.fromMs + 1))
    : 0;
}

/**
 * Reads the rules. Delays add up. Of the other effects, the first rule that applies wins. Throws
 * `invalid_option` for a malformed rule.
 */
export function makeFaults(texts: readonly string[], random: Random): Faults {
  const rules = texts.map((text) => readFaultRule(text, random));
  return {
    rules: texts,
    faultsFor(method, path) {
      const segments = segmentsOf(path);
      const applying = rules.filter(
        ({ target, applies }) => isTarget(target, method, segments) && applies(),
      );
      const delays = applying.filter(({ effect }) => effect.kind === 'delay');
      const decisive = applying.find(({ effect }) => effect.kind !== 'delay');
      const effective = applying.filter((rule) => rule === decisive || delays.includes(rule));
      if (effective.length === 0) return undefined;
      const delayMs = delays.reduce((sum, rule) => sum + delayOf(rule, random), 0);
      return {
        rules: effective.map(({ text }) => text),
        delayMs,
        effect: decisive?.effect as InjectedFaults['effect'],
      };
    },
  };
}
