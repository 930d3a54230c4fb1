import type { DeviceClient } from '../../client/device-client.ts';
import type { ClaimOffer, DeviceInfoInput } from '../../client/entities.ts';
import { secondMs, systemClock, systemRandom } from '../../domain/clock.ts';
import { hasCode, type SignageError } from '../../domain/error.ts';
import type { UnpairedReason } from '../../player/observer.ts';
import { type ClaimKeyMemory, waitForOfferedCode } from '../../player/pairing/claim.ts';
import { after } from '../settings/timing.ts';
import { fill } from '../texts/phrase.ts';
import type { KeptTicket } from './kept-ticket.ts';
import { explainDelay, explainNoClaim } from './messages.ts';
import type { PairingScreen } from './pairing-screen.ts';

/** Display time of an offer that needs no answer. */
const offerShownMs = 3 * secondMs;
/** That of a link: nobody has looked at this TV before. */
const ticketShownMs = 10 * secondMs;
const claimItem = 'signage-player-claim';

/**
 * Keeps the `Idempotency-Key` of the claim, so that the page shows the same claim after a reload.
 */
const claimKey: ClaimKeyMemory = {
  load: () => localStorage.getItem(claimItem) ?? undefined,
  save(key) {
    if (key === undefined) return localStorage.removeItem(claimItem);
    try {
      localStorage.setItem(claimItem, key);
    } catch {
      // A full storage only means that the page shows another claim after a reload.
    }
  },
};

interface CodeSource {
  client: DeviceClient;
  deviceInfo: DeviceInfoInput;
  screen: PairingScreen;
  ticket: KeptTicket;
  /** Draws a claim, large, for this many seconds. */
  identity: { showClaim(claim: string, seconds: number): void };
}

/**
 * Resolves with the pairing code. A person types the code, or an installer offers it to this TV's
 * claim.
 */
export async function askForCode(
  { client, deviceInfo, screen, ticket, identity }: CodeSource,
  why: UnpairedReason,
  error: SignageError | undefined,
): Promise<string> {
  const ending = new AbortController();
  const typed = screen.ask(why, error);
  /** Shows an offer. Asks for confirmation if the offer requires it. */
  const accept = async (offer: ClaimOffer) => {
    if (offer.confirm) return screen.confirm(offer);
    const { venue, screen: name, tenant } = offer;
    screen.tell(({ becomes }) => fill(becomes, { place: `${venue}/${name}`, tenant }));
    await after(ticket.secret === undefined ? offerShownMs : ticketShownMs);
    return true;
  };
  let shown = '';
  const enrol = (secret: string | undefined): Promise<string> =>
    waitForOfferedCode({
      client,
      deviceInfo,
      ticket: secret,
      clock: systemClock,
      random: systemRandom,
      keyMemory: claimKey,
      onClaim: (claim) => {
        shown = claim;
        screen.showClaim(claim);
      },
      onIdentify: (seconds) => identity.showClaim(shown, seconds),
      onFailure: (failure) => screen.showNoClaim(explainDelay(failure)),
      accept,
      signal: ending.signal,
    }).catch((failure) => {
      if (secret === undefined || !hasCode(failure, 'ticket_not_found')) throw failure;
      ticket.forget();
      screen.addNote(explainDelay(failure));
      return enrol(undefined);
    });
  enrol(ticket.secret).then(
    (code) => screen.submit(code),
    // Without a claim, a person types the code.
    (failure) => screen.showNoClaim(explainNoClaim(failure)),
  );
  try {
    return await typed;
  } finally {
    ending.abort();
    identity.showClaim(shown, 0);
    screen.showNoClaim();
  }
}
