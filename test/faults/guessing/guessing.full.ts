import { expect, it } from 'vitest';
import { runAttacks } from './run-attacks.ts';
import { runClaimFlood } from './run-claim-flood.ts';
import { runClaims } from './run-claims.ts';

const percent = (part: number, of: number) => `${((part / of) * 100).toFixed(3)} %`;

it('30,000 attacks stay within the limit of guesses, learn nothing, and do not stop trusted TVs', async () => {
  const { findings, ...tally } = await runAttacks({ count: 30_000, seed: 1 });
  const { honest, paired, besieged, besiegedPaired, peak } = tally;
  console.log(`attacks on pairing codes: ${JSON.stringify(tally)}`);
  console.log(
    `the most tries at one code in its lifetime: ${peak} of 198, a chance of ${((peak / 31 ** 8) * 2 ** 32).toFixed(3)} x 2^-32`,
  );
  console.log(
    `TVs at trusted sources that paired: ${paired} of ${honest} (${percent(paired, honest)})`,
  );
  console.log(
    `the same where somebody guesses at a trusted source of their tenant: ${percent(besiegedPaired, besieged)}`,
  );
  expect(findings).toEqual([]);
  expect(paired / honest).toBeGreaterThanOrEqual(0.999);
  expect(besiegedPaired / besieged).toBeGreaterThanOrEqual(0.999);
});

it('20,000 steps against claims: nothing is bound without an installer of the tenant', async () => {
  const { findings, ...totals } = await runClaims({ steps: 20_000, seed: 'full' });
  console.log(`attacks on claims: ${JSON.stringify(totals)}`);
  expect(findings).toEqual([]);
  expect(totals.paired).toBe(totals.tried);
});

it('floods of claims with and without a key stop no other TV', async () => {
  const totals = await runClaimFlood();
  console.log(`floods of claims: ${JSON.stringify(totals)}`);
  expect(totals).toMatchObject({ first: 200, shop: 50 });
});
