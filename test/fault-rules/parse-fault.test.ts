import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/domain/clock.ts';
import { faultKinds, parseFault } from '../../src/faults/parse-fault.ts';

const dayMs = 24 * hourMs;

describe('a fault rule', () => {
  it.each([
    ['lost-answer:register:20%', { kind: 'lost-answer', target: 'register', share: 0.2 }],
    ['lost-request 5%', { kind: 'lost-request', target: 'all', share: 0.05 }],
    ['cut-answer:all:0.5%', { kind: 'cut-answer', target: 'all', share: 0.005 }],
    ['duplicate:events:100%', { kind: 'duplicate', target: 'events', share: 1 }],
    ['slow:2s', { kind: 'slow', target: 'all', leastMs: 2000, mostMs: 2000, share: 1 }],
    [
      'slow:playlist:200ms-2s:30%',
      { kind: 'slow', target: 'playlist', leastMs: 200, mostMs: 2000, share: 0.3 },
    ],
    ['offline:5m every 1h', { kind: 'offline', lastsMs: 5 * minuteMs, pace: { everyMs: hourMs } }],
    [
      'offline:30s:2/d',
      { kind: 'offline', lastsMs: 30 * secondMs, pace: { times: 2, inMs: dayMs } },
    ],
    ['clock-skew:2h', { kind: 'clock-skew', byMs: 2 * hourMs }],
    [
      'clock-jump:10m:every:6h',
      { kind: 'clock-jump', byMs: 10 * minuteMs, pace: { everyMs: 6 * hourMs } },
    ],
    [
      'power-cut:1%/h',
      { kind: 'power-cut', lastsMs: minuteMs, pace: { times: 0.01, inMs: hourMs } },
    ],
    [
      'power-cut:90s every 1d',
      { kind: 'power-cut', lastsMs: 90 * secondMs, pace: { everyMs: dayMs } },
    ],
    ['factory-reset:every 12h', { kind: 'factory-reset', pace: { everyMs: 12 * hourMs } }],
    ['shared-code:50%', { kind: 'shared-code', share: 0.5 }],
    ['revoked-key:0.5/d', { kind: 'revoked-key', pace: { times: 0.5, inMs: dayMs } }],
  ])('%s is parsed', (rule, fault) => expect(parseFault(rule)).toEqual({ ...fault, rule }));

  it.each([
    ['', 'something is missing at character 1: a rule begins with one of lost-request, '],
    ['lost-anwser:5%', '"lost-anwser" (character 1) is not understood: a rule begins with one of'],
    ['lost-answer', 'something is missing at character 12: expected a share such as 20%'],
    [
      'lost-answer:evnts:20%',
      '"evnts" (character 13) is not understood: expected one of register, playlist, config, changes, events, rotate, all',
    ],
    ['lost-answer:events:120%', '"120%" (character 20)'],
    ['lost-answer:events:0%', '"0%" (character 20)'],
    ['lost-answer:events:20', '"20" (character 20)'],
    [
      'lost-answer:events:20%:more',
      '"more" (character 24) is not understood: expected the end of the rule',
    ],
    ['slow:2s-1s', '"2s-1s" (character 6) is not understood: expected a duration such as 2s'],
    ['slow:evnts:2s', '"evnts" (character 6) is not understood: expected one of'],
    ['slow:0s', '"0s" (character 6)'],
    ['slow:1s:lots', '"lots" (character 9)'],
    ['offline:every 1h', '"every" (character 9) is not understood: expected a duration'],
    [
      'offline:5m',
      'something is missing at character 11: expected a frequency such as every 6h, 1%/h or 2/d',
    ],
    ['offline:5m every', 'something is missing at character 17: expected a duration'],
    ['offline:5m every 0s', '"0s" (character 18)'],
    ['power-cut:0%/h', '"0%/h" (character 11)'],
    ['power-cut:1%/w', '"1%/w" (character 11)'],
    ['clock-skew:2x', '"2x" (character 12)'],
  ])('%j is rejected with the place of the error and the allowed values', (rule, message) => {
    expect(() => parseFault(rule)).toThrow(message);
    expect(() => parseFault(rule)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });

  it('is rejected with its syntax and an example', () => {
    expect(() => parseFault('offline:5m')).toThrow(
      'write offline:SPAN:PACE, such as offline:5m every 1h',
    );
  });

  it.each(Object.entries(faultKinds))('%s has a valid example', (kind, { example }) => {
    expect(parseFault(example)).toMatchObject({ kind, rule: example });
  });
});
