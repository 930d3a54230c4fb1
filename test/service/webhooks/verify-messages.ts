import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook as Verifier } from 'standardwebhooks';
import { expect } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Webhook } from '../../../src/domain/webhooks/rows.ts';
import { deriveWebhookSecret } from '../../../src/domain/webhooks/signature.ts';
import { makeCallableAddresses } from '../../../src/network/callable-address.ts';
import { makeWebhookSender } from '../../../src/network/webhook-sender.ts';
import { retiringMs } from '../../../src/service/auth/authority.ts';
import { sendMessage } from '../../../src/service/webhooks/message.ts';
import { startReceiver } from '../../support/network/webhook-receiver.ts';

const maxBodyBytes = 20_000;

/** Faster than the unit `binary`, which first makes a map of all code points. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ffff })
  .map((codePoint) => String.fromCodePoint(codePoint));
/** Any text, with lone surrogates, control characters and characters of all planes. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: anyCharacter, maxLength: 30 }) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 })
      .map((units) => String.fromCharCode(...units)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 }), fc.nat(maxBodyBytes))
      .map(([part, bytes]) => part.repeat(bytes / Buffer.byteLength(JSON.stringify(part)))),
  },
);
const data = fc.dictionary(text, fc.oneof(text, fc.integer(), fc.constant(null)), { maxKeys: 3 });
const sent = fc.record({
  id: fc.uuid(),
  message: fc.record({ type: text, timestamp: fc.constant('2026-11-28T12:00:00.000Z'), data }),
  generation: fc.integer({ min: 1, max: 1e6 }),
  isRotated: fc.boolean(),
  changedByte: fc.nat(),
});

const accepts = (secret: string, body: string, headers: Record<string, string>) => {
  try {
    new Verifier(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
};

/** Returns the text with one byte replaced by another printable one. */
function withChangedByte(body: string, index: number): string {
  const bytes = Buffer.from(body);
  const at = index % bytes.length;
  bytes[at] = bytes[at] === 0x78 ? 0x79 : 0x78;
  return bytes.toString();
}

/**
 * Sends random messages over HTTP, and lets the package `standardwebhooks` judge each of them: it
 * accepts the message with the current and the retiring secret, and refuses every changed one.
 */
export async function verifyMessages(count: number): Promise<void> {
  const receiver = await startReceiver();
  const sender = makeWebhookSender({
    addresses: makeCallableAddresses(['127.0.0.1']),
    clock: systemClock,
  });
  const store = { secret: randomBytes(32) };
  await fc.assert(
    fc.asyncProperty(sent, async ({ id, message, generation, isRotated, changedByte }) => {
      const until = systemClock.now() + retiringMs;
      const row = {
        id: 'a webhook',
        url: receiver.url,
        generation,
        retiring: isRotated ? { generation: generation - 1, until } : null,
      } as Webhook;
      const deps = { store, clock: systemClock };
      const outcome = await sendMessage(deps, sender, row, id, message, {});
      expect(outcome).toMatchObject({ status: 204, error: null });
      const [received] = receiver.received.splice(0);
      const body = received?.text ?? '';
      const headers = received?.headers as Record<string, string>;
      const secretOf = (number: number) => deriveWebhookSecret(store.secret, row.id, number);

      const current = secretOf(generation);
      expect(new Verifier(current).verify(body, headers)).toEqual(
        JSON.parse(JSON.stringify(message)),
      );
      expect(headers['webhook-id']).toBe(id);
      expect(headers['webhook-signature']?.split(' ')).toHaveLength(isRotated ? 2 : 1);
      expect(accepts(secretOf(generation - 1), body, headers)).toBe(isRotated);
      expect(accepts(secretOf(generation + 1), body, headers)).toBe(false);
      expect(accepts(current, withChangedByte(body, changedByte), headers)).toBe(false);
      const later = String(Number(headers['webhook-timestamp']) + 1);
      expect(accepts(current, body, { ...headers, 'webhook-timestamp': later })).toBe(false);
      expect(accepts(current, body, { ...headers, 'webhook-id': `${id}0` })).toBe(false);
    }),
    { numRuns: count },
  );
}
