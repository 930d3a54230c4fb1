import { it } from 'vitest';
import { verifyMessages } from '../../service/webhooks/verify-messages.ts';

const messages = Number(process.env.SIGNED_MESSAGES ?? 10_000);

it(`${messages} random messages are verified by the package standardwebhooks`, async () => {
  await verifyMessages(messages);
});
