import { expect, it } from 'vitest';
import { readRecording } from '../../../src/cli/commands/record/recording.ts';

const line = JSON.stringify({
  at: '2026-11-20T12:00:00.000Z',
  ms: 5,
  tv: 1,
  operation: null,
  method: 'GET',
  path: '/devices/x',
  request: { bytes: 0, headers: {} },
  status: 200,
  answer: { bytes: 0, headers: {} },
  outcome: 'answered',
  wrong: [],
});

it('a recording may end in the middle of a line, which is ignored', () => {
  expect(readRecording(`${line}\n{"at":"2026`, 'tv.ndjson')).toHaveLength(1);
  const torn = () => readRecording(`{"at":"2026\n${line}\n`, 'tv.ndjson');
  expect(torn).toThrow('tv.ndjson, line 1, is not an exchange');
});
