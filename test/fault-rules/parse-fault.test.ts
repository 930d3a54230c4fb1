import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/domain/clock.ts';
import { parseFault, parseServiceFault } from '../../src/faults/parse-fault.ts';

const dayMs = 24 * hourMs;
const always = { share: 1 };

describe('a fault rule', () => {
  it.each([
    ['lost-answer:register:20%', { kind: 'lost-answer', what: 'register', often: { share: 0.2 } }],
    ['lost-request 5%', { kind: 'lost-request', what: 'all', often: { share: 0.05 } }],
    ['cut-answer:all:0.5%', { kind: 'cut-answer', what: 'all', often: { share: 0.005 } }],
    ['duplicate', { kind: 'duplicate', what: 'all', often: always }],
    ['duplicate:events:every 3', { kind: 'duplicate', what: 'events', often: { every: 3 } }],
    ['at-once:changes first 4', { kind: 'at-once', what: 'changes', often: { first: 4 } }],
    ['slow:2s', { kind: 'slow', what: 'all', range: { fromMs: 2000, toMs: 2000 }, often: always }],
    [
      'slow:playlist:200ms-2s:30%',
      { kind: 'slow', what: 'playlist', range: { fromMs: 200, toMs: 2000 }, often: { share: 0.3 } },
    ],
    [
      'timeout:changes:20s',
      { kind: 'timeout', what: 'changes', range: { fromMs: 20_000, toMs: 20_000 }, often: always },
    ],
    ['500', { kind: 'status', status: 500, what: 'all', often: always }],
    [
      '401:config:device_key_revoked',
      { kind: 'status', status: 401, what: 'config', code: 'device_key_revoked', often: always },
    ],
    ['401 uncoded', { kind: 'status', status: 401, what: 'all', code: 'uncoded', often: always }],
    [
      '503:events retry 30s every 2',
      { kind: 'status', status: 503, what: 'events', retryAfterSeconds: 30, often: { every: 2 } },
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
    ['', 'something is missing at character 1: expected a status from 400 to 599, lost-request, '],
    ['lost-anwser:5%', '"lost-anwser" (character 1) is not understood: expected a status'],
    ['200', '"200" (character 1) is not understood: expected a status from 400 to 599'],
    ['5000', '"5000" (character 1) is not understood'],
    [
      'lost-answer:evnts:20%',
      '"evnts" (character 13) is not understood: expected one of register, claim, playlist, config, changes, events, rotate, media, all; or a frequency such as 20%, every 3 or first 5',
    ],
    ['lost-answer:events:120%', '"120%" (character 20)'],
    ['lost-answer:events:0%', '"0%" (character 20)'],
    ['lost-answer:events:20', '"20" (character 20)'],
    ['lost-answer:events:1e1%', '"1e1%" (character 20)'],
    ['lost-answer:events:every 0', '"0" (character 26) is not understood: expected a whole number'],
    ['lost-answer:events:first', 'something is missing at character 25: expected a whole number'],
    [
      'lost-answer:events:20%:more',
      '"more" (character 24) is not understood: expected the end of the rule',
    ],
    ['slow:2s-1s', '"2s-1s" (character 6) is not understood: expected one of'],
    ['slow:1s-2s-3s', '"1s-2s-3s" (character 6)'],
    ['slow:all', 'something is missing at character 9: expected a duration such as 2s, or a range'],
    ['slow:0s', '"0s" (character 6)'],
    ['slow:1s:lots', '"lots" (character 9)'],
    [
      '401:playlist revoked',
      '"revoked" (character 14) is not understood: expected one of the codes credential_missing',
    ],
    [
      '418:playlist:teapot',
      '"teapot" (character 14) is not understood: expected one of the codes uncoded',
    ],
    ['503 retry', 'something is missing at character 10: expected whole seconds such as 30s or 2m'],
    ['503 retry 10ms', '"10ms" (character 11) is not understood: expected whole seconds'],
    ['offline:every 1h', '"every" (character 9) is not understood: expected a duration'],
    [
      'offline:5m',
      'something is missing at character 11: expected a frequency such as every 6h, 1%/h or 2/d; write offline:SPAN:PACE.',
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

  it('of a service cannot be a fault of a TV', () => {
    expect(parseServiceFault('503:events')).toEqual(parseFault('503:events'));
    expect(() => parseServiceFault('offline:5m every 1h')).toThrow(
      '"offline" (character 1) is not understood: expected a status from 400 to 599, lost-request, lost-answer, cut-answer, at-once, slow, timeout.',
    );
  });
});
