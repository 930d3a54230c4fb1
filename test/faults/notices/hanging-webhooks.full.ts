import { expect, it } from 'vitest';
import { besideHangingWebhooks } from '../../http/webhooks/hanging-webhooks.ts';

const webhooks = Number(process.env.HANGING_WEBHOOKS ?? 1000);

it(`${webhooks} hanging webhooks of one tenant do not hold up another tenant`, async () => {
  const tookMs = await besideHangingWebhooks(webhooks);
  console.log(
    `Beside ${webhooks} webhooks of another tenant, a notice reached its receiver in ${Math.round(tookMs)} ms.`,
  );
  expect(tookMs).toBeLessThan(5000);
});
