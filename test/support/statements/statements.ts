// Statements of a seller, made without a service.
import { randomBytes } from 'node:crypto';
import { type Head, headHash, headText } from '../../../src/domain/statements/head.ts';
import { RowTally } from '../../../src/domain/statements/row-tally.ts';
import {
  type NoteSigner,
  readSigner,
  signingKeyText,
} from '../../../src/domain/statements/signed-note.ts';

const tenant = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4e';
const campaign = '0190a5b4-6f00-7c3e-9d2a-5b8f1e2c3d4f';
export const signer = readSigner(
  signingKeyText('signage.example.com', randomBytes(32)),
  `/${tenant}`,
) as NoteSigner;

export function rowOf(place: number) {
  const startMs = Date.parse('2026-11-20T08:00:00.000Z') + place * 15_000;
  return {
    venue: 'Café',
    screen: `Screen ${place % 3}`,
    item: null,
    creativeId: null,
    campaign: 'summer',
    campaignId: campaign,
    localStart: '2026-11-20T09:00:00+01:00',
    start: new Date(startMs).toISOString(),
    seconds: 14.5 + place / 1000,
    planned: 15,
    full: place % 4 > 0,
    receivedAt: new Date(startMs + (place % 5 === 0 ? 90_000_000 : 60_000)).toISOString(),
    seq: place,
    screenId: tenant,
    venueId: tenant,
  };
}

export interface Statement {
  note: Buffer;
  rows: Buffer;
}

/** Returns statements of following days, each with some rows. */
export function statements(counts: readonly number[], changes: Partial<Head> = {}): Statement[] {
  let previous = 'none';
  return counts.map((count, place) => {
    const tally = new RowTally();
    const lines = Array.from({ length: count }, (_, row) => tally.write(rowOf(row)));
    const text = headText({
      issuer: 'signage.example.com',
      tenant,
      campaign,
      name: JSON.stringify('Sömmer "26"\n'),
      day: `2026-11-${20 + place}`,
      'time-zone': 'venue',
      number: String(place + 1),
      basis: 'device-reported',
      ...tally.figures(),
      previous,
      sealed: '2026-11-25T12:00:00.000Z',
      ...changes,
    });
    previous = headHash(text);
    return { note: Buffer.from(signer.sign(text)), rows: Buffer.from(lines.join('')) };
  });
}
