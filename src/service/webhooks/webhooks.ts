import { isDeepStrictEqual } from 'node:util';
import { iso } from '../../domain/clock.ts';
import { SignageError } from '../../domain/error.ts';
import { checkPrecondition, type Precondition, revision } from '../../domain/etags/etag.ts';
import type { Page } from '../../domain/paging.ts';
import type { AuditVerb } from '../../domain/records/audit.ts';
import { verdictOf } from '../../domain/webhooks/retry.ts';
import type { Webhook, WebhookCursor } from '../../domain/webhooks/rows.ts';
import type {
  CreatedWebhookView,
  WebhookCreation,
  WebhookPatch,
  WebhookQuery,
  WebhookSecretView,
  WebhookTestView,
  WebhookView,
} from '../../domain/webhooks/webhook.ts';
import { isPausedByRestore } from '../../domain/webhooks/webhook.ts';
import type { WebhookSender } from '../../network/webhook-sender.ts';
import type { Slice } from '../../store/queries.ts';
import type { Reader, Tx } from '../../store/store.ts';
import { checkAuthority, retiringMs } from '../auth/authority.ts';
import {
  type Principal,
  recordChange,
  type ServiceDependencies,
  type TenantPrincipal,
} from '../context.ts';
import {
  type IdempotentRequest,
  lookUpCreated,
  notRepeatable,
  prepareCreation,
} from '../creations.ts';
import { changeOf, isVisibleTo, lookUp, requireTenant } from '../lookup.ts';
import { noticeId } from '../notices/notice-log.ts';
import { pageFilters, toPage } from '../paging.ts';
import { currentSecret, sendMessage } from './message.ts';

function webhookView(row: Webhook): WebhookView {
  const { id, name, url, state, stateReason, tokenId } = row;
  return {
    id,
    name,
    url,
    types: row.types && [...row.types],
    venueIds: row.venueIds && [...row.venueIds],
    state,
    stateReason,
    tokenId,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
  };
}

/** Describes a change of a webhook for the audit trail, without the path of its URL. */
export const webhookChange = (verb: AuditVerb<'webhook'>, row: Webhook) =>
  changeOf('webhook', verb, row, {
    name: row.name,
    receiver: new URL(row.url).origin,
    state: row.state,
  });

/** Counts the webhooks in the caller's reach that a restore has paused. */
export async function countRestoredWebhooks(
  reader: Reader,
  principal: TenantPrincipal,
): Promise<number> {
  const webhooks = await reader.select('webhooks', 'tenantId', [principal.tenantId]);
  return webhooks.filter((row) => isPausedByRestore(row) && isVisibleTo(principal, 'webhook', row))
    .length;
}

/** Only tokens may call this part. */
const tokenOf = ({ actor }: Principal) => actor.id as string;

async function deleteWebhookRows(tx: Tx, id: string): Promise<void> {
  for (const delivery of await tx.select('webhookDeliveries', 'webhookId', [id]))
    await tx.delete('webhookDeliveries', delivery.id);
  await tx.delete('webhookCursors', id);
  await tx.delete('webhooks', id);
}

export async function deleteWebhooksOfTenant(tx: Tx, tenantId: string): Promise<void> {
  for (const { id } of await tx.select('webhooks', 'tenantId', [tenantId]))
    await deleteWebhookRows(tx, id);
}

/** Webhooks (docs/protocol.md §5.17). */
export function makeWebhooks(deps: ServiceDependencies, sender: WebhookSender) {
  const { store } = deps;
  /**
   * The tenants of the tests in progress. Each has one at a time: a receiver may take 15 seconds,
   * and send much that has to be parsed.
   */
  const testing = new Set<string>();

  /** Throws `address_refused`. */
  function normalUrl(text: string): string {
    const url = new URL(text);
    sender.checkUrl(url);
    url.hash = '';
    return url.href;
  }

  /**
   * Returns the venues of a webhook: those that are asked for, or all that the caller may see.
   * Throws `venue_not_found`.
   */
  async function reachOf(
    tx: Tx,
    principal: Principal,
    venueIds: readonly string[] | null | undefined,
  ): Promise<readonly string[] | null> {
    for (const id of venueIds ?? []) await lookUp(tx, principal, 'venue', id);
    return venueIds ? [...new Set(venueIds)] : principal.venueIds;
  }

  /** Lists the webhooks that a caller may see. No index covers venues, so it filters here. */
  async function list(
    principal: TenantPrincipal,
    query: WebhookQuery,
    signal?: AbortSignal,
  ): Promise<Page<WebhookView>> {
    const filters = pageFilters(query, signal);
    const where = { tenantId: principal.tenantId };
    const items: Webhook[] = [];
    for (let { after } = filters; ; ) {
      const slice: Slice<Webhook> = await store.list('webhooks', {
        ...filters,
        where,
        ...(after !== undefined && { after }),
      });
      for (const row of slice.items) {
        if (!isVisibleTo(principal, 'webhook', row)) continue;
        if (items.length === query.limit)
          return toPage({ items, next: items.at(-1)?.id ?? null }, webhookView);
        items.push(row);
      }
      if (slice.next === null) return toPage({ items, next: null }, webhookView);
      after = slice.next;
    }
  }

  async function get(principal: Principal, id: string): Promise<WebhookView> {
    return webhookView(await lookUp(store.read, principal, 'webhook', id));
  }

  /** Throws `address_refused`, `venue_not_found` or `not_repeatable`. */
  async function create(
    principal: TenantPrincipal,
    wanted: WebhookCreation,
    request?: IdempotentRequest,
  ): Promise<CreatedWebhookView> {
    const url = normalUrl(wanted.url);
    const begin = await prepareCreation(deps, principal, request);
    return deps.write(principal, async (tx) => {
      const creation = await begin(tx);
      if (creation.earlierId !== undefined) {
        const row = await lookUpCreated(tx, principal, 'webhook', creation.earlierId);
        if (row.generation > 0) throw notRepeatable('its secret was replaced since.', row.id);
        return { ...webhookView(row), secret: currentSecret(store.secret, row) };
      }
      await requireTenant(tx, principal);
      const row: Webhook = {
        id: deps.newId(),
        tenantId: principal.tenantId,
        name: wanted.name ?? null,
        url,
        types: wanted.types ?? null,
        venueIds: await reachOf(tx, principal, wanted.venueIds),
        tokenId: tokenOf(principal),
        generation: 0,
        retiring: null,
        state: 'active',
        stateReason: null,
        redeliveries: 0,
        createdAt: tx.stamp,
        updatedAt: tx.stamp,
      };
      await tx.put('webhooks', row);
      await tx.put('webhookCursors', {
        id: row.id,
        // Before all notices of this millisecond.
        after: noticeId({ at: tx.stamp - 1, seq: 0 }),
        failingSince: null,
      });
      await creation.remember(row.id);
      await recordChange(deps, tx, principal, webhookChange('create', row));
      return { ...webhookView(row), secret: currentSecret(store.secret, row) };
    });
  }

  /** The webhook gets the rights of the caller, and its oldest notice is sent at once. */
  async function activate(tx: Tx, { id }: Webhook): Promise<void> {
    const cursor = (await tx.get('webhookCursors', id)) as WebhookCursor;
    await tx.put('webhookCursors', { ...cursor, failingSince: null });
    for (const pending of await tx.select('webhookDeliveries', 'pendingOf', [id]))
      await tx.put('webhookDeliveries', { ...pending, nextAt: tx.now });
  }

  /** Throws `address_refused` or `venue_not_found`. */
  async function update(
    principal: Principal,
    id: string,
    patch: WebhookPatch,
    precondition: Precondition = {},
  ): Promise<WebhookView> {
    return deps.write(principal, async (tx) => {
      const before = await lookUp(tx, principal, 'webhook', id);
      checkPrecondition(precondition, revision.webhook(before));
      const { url = before.url, venueIds, state = before.state, ...members } = patch;
      const isActivated = patch.state === 'active';
      const after: Webhook = {
        ...before,
        ...members,
        url: patch.url === undefined ? url : normalUrl(url),
        venueIds: venueIds === undefined ? before.venueIds : await reachOf(tx, principal, venueIds),
        state,
        stateReason: patch.state === undefined ? before.stateReason : null,
        // A webhook never sees more than its token may see.
        tokenId: isActivated || venueIds !== undefined ? tokenOf(principal) : before.tokenId,
      };
      if (isActivated) await activate(tx, before);
      if (isDeepStrictEqual(after, before)) return webhookView(before);
      const row = { ...after, updatedAt: tx.stamp };
      await tx.put('webhooks', row);
      await recordChange(deps, tx, principal, webhookChange('update', row));
      return webhookView(row);
    });
  }

  async function remove(
    principal: Principal,
    id: string,
    precondition: Precondition = {},
  ): Promise<void> {
    await deps.write(principal, async (tx) => {
      const row = await lookUp(tx, principal, 'webhook', id);
      checkPrecondition(precondition, revision.webhook(row));
      await deleteWebhookRows(tx, row.id);
      await recordChange(deps, tx, principal, webhookChange('delete', row));
    });
  }

  async function rotateSecret(principal: Principal, id: string): Promise<WebhookSecretView> {
    return deps.write(principal, async (tx) => {
      const before = await lookUp(tx, principal, 'webhook', id);
      const until = tx.now + retiringMs;
      const row: Webhook = {
        ...before,
        generation: before.generation + 1,
        retiring: { generation: before.generation, until },
        updatedAt: tx.stamp,
      };
      await tx.put('webhooks', row);
      await recordChange(deps, tx, principal, webhookChange('rotate', row));
      return { secret: currentSecret(store.secret, row), oldSecretUntil: iso(until) };
    });
  }

  /**
   * Sends a `webhook.test` now, also if the webhook is paused. Throws `unavailable` if the
   * tenant tests another one.
   */
  async function test(principal: Principal, id: string): Promise<WebhookTestView> {
    const row = await lookUp(store.read, principal, 'webhook', id);
    if (testing.has(row.tenantId))
      throw new SignageError(
        'unavailable',
        'This tenant tests a webhook already. Test one at a time.',
        {
          retryAfterSeconds: 1,
        },
      );
    testing.add(row.tenantId);
    try {
      const outcome = await sendTest(row);
      // The token may have been revoked while the receiver took its time.
      await checkAuthority(store.read, principal, deps.clock.now());
      return outcome;
    } finally {
      testing.delete(row.tenantId);
    }
  }

  async function sendTest(row: Webhook): Promise<WebhookTestView> {
    const message = {
      type: 'webhook.test',
      timestamp: iso(deps.clock.now()),
      data: { webhook: row.name },
    };
    const sent = await sendMessage(deps, sender, row, deps.newId(), message, { keepsText: true });
    const { status, ms, error, text } = sent;
    return { delivered: verdictOf(status) === 'delivered', status, ms, error, text };
  }

  return { list, get, create, update, remove, rotateSecret, test };
}
