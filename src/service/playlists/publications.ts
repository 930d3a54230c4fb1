import { invalid } from '../../domain/error.ts';
import { matchesRevision } from '../../domain/etags/etag.ts';
import { epochMs } from '../../domain/fields.ts';
import type { ScreenContents } from '../../domain/media/rows.ts';
import {
  type BulkPublication,
  type BulkResult,
  type BulkResults,
  bulkCodes,
  maxBulkScreens,
} from '../../domain/playlists/bulk-publication.ts';
import { publishedContent } from '../../domain/playlists/playlist-content.ts';
import type { Playlist, Screen } from '../../domain/records/rows.ts';
import type { Layers } from '../../domain/schedule/rows.ts';
import type { Tx } from '../../store/store.ts';
import type { ServiceDependencies, TenantPrincipal } from '../context.ts';
import { type IdempotentRequest, prepareCreation } from '../creations.ts';
import { isVisibleTo, lookUp, whereVenue } from '../lookup.ts';
import { requireMedia } from '../media/media-uses.ts';
import { isBasePlaying } from '../schedules/delivered-now.ts';
import { emptyLayers, layersId } from '../schedules/layers.ts';
import { putTakeover, storeTakeover, takeoverRevision } from '../schedules/takeovers.ts';
import type { PlaylistQuota } from '../versions/playlist-quota.ts';
import {
  adopt,
  hasSameContent,
  keepItems,
  pastId,
  putNextVersion,
  storeItems,
  type VersionContent,
  versionContent,
  withdrawVersion,
} from '../versions/versions.ts';

type BulkErrorCode = (typeof bulkCodes)[number];
/** What was done on a screen: its version afterwards, or why nothing was done. */
type BulkOutcome = { version: number | null; changed: boolean } | { code: BulkErrorCode };

/** A screen, as a bulk publication finds it. */
interface TargetScreen {
  id: string;
  /** `undefined`: it does not exist, or the caller may not see it. */
  screen: Screen | undefined;
  /** The newest version, also if it was withdrawn. */
  row: Playlist | undefined;
  layers: Layers | undefined;
  noted: ScreenContents | undefined;
}

type VisibleScreen = TargetScreen & { screen: Screen };

const versionOf = (row: Playlist | undefined) =>
  row && row.state !== 'withdrawn' ? row.version : null;

/**
 * Whether the playlist has not changed since a version that a caller has read. A switch of the
 * layers makes versions of its own (docs/protocol.md §5.18), and the next publication follows them.
 */
function isUnchanged({ row, layers }: Pick<TargetScreen, 'row' | 'layers'>, read: number | null) {
  if (read === versionOf(row)) return true;
  const isPresent = row?.state !== 'withdrawn';
  const switched = layers?.delivered?.version ?? 0;
  return isPresent && read !== null && read > (row?.version ?? 0) && read <= switched;
}

/**
 * Letters of outcomes, as the row of the `Idempotency-Key` has them. A repeat answers with the same
 * outcomes.
 */
const letters = 'cuspfir';
const letterOf = (outcome: BulkOutcome) =>
  'code' in outcome
    ? letters.charAt(2 + bulkCodes.indexOf(outcome.code))
    : outcome.changed
      ? 'c'
      : 'u';

/** Returns the outcome of a repeat for one screen. */
function repeatedOutcome({ screen, row }: TargetScreen, letter: string): BulkOutcome {
  const code = bulkCodes[letters.indexOf(letter) - 2];
  if (code !== undefined) return { code };
  if (!screen) return { code: 'screen_not_found' };
  return { version: versionOf(row), changed: letter === 'c' };
}

/** Changes the playlists of many screens at once (docs/protocol.md §5.4). */
export function makePublications(deps: ServiceDependencies, quota: PlaylistQuota) {
  const { store } = deps;

  /** Returns the ids of the screens, and the cursor of the next call. */
  async function select(
    principal: TenantPrincipal,
    { screenIds, venueId, selector, cursor }: BulkPublication,
  ): Promise<{ ids: readonly string[]; next: string | null }> {
    if (screenIds) return { ids: screenIds, next: null };
    if (venueId !== undefined) await lookUp(store.read, principal, 'venue', venueId);
    const { items, next } = await store.list('screens', {
      where: { tenantId: principal.tenantId, ...whereVenue(principal, venueId) },
      ...(selector && { selector }),
      ...(cursor !== undefined && { after: cursor }),
      limit: maxBulkScreens,
    });
    return { ids: items.map(({ id }) => id), next };
  }

  /** Reads all screens at once, so that a database gets few statements. */
  async function readTargets(
    tx: Tx,
    principal: TenantPrincipal,
    ids: readonly string[],
  ): Promise<TargetScreen[]> {
    const [screens, rows, layers, noted] = await Promise.all([
      Promise.all(ids.map((id) => tx.get('screens', id))),
      Promise.all(ids.map((id) => tx.get('playlists', id))),
      Promise.all(ids.map((id) => tx.get('layers', layersId('screen', id)))),
      Promise.all(ids.map((id) => tx.get('screenContents', id))),
    ]);
    return ids.map((id, place) => {
      const screen = screens[place];
      const isVisible = screen !== undefined && isVisibleTo(principal, 'screen', screen);
      return isVisible
        ? { id, screen, row: rows[place], layers: layers[place], noted: noted[place] }
        : { id, screen: undefined, row: undefined, layers: undefined, noted: undefined };
    });
  }

  /** Returns the version that a rollback publishes again, or why there is none. */
  async function readFormer(
    tx: Tx,
    { id, row }: TargetScreen,
    to: BulkPublication['to'] = 'previous',
  ): Promise<Playlist | BulkErrorCode> {
    const read = async (version: number) =>
      version === row?.version ? row : tx.get('pastPlaylists', pastId(id, version));
    if (!row || (to === 'previous' && row.state === 'withdrawn')) return 'playlist_not_found';
    if (to !== 'previous') return (await read(to)) ?? 'playlist_not_found';
    const [previous, beforeThat] = await Promise.all(row.past.slice(0, 2).map(read));
    // Another rollback would publish the version again that the first one has replaced.
    const isRolledBack =
      previous?.contentId !== row.contentId && beforeThat?.contentId === row.contentId;
    return isRolledBack ? 'not_repeatable' : (previous ?? 'playlist_not_found');
  }

  /** Stores the content as the next version, unless the newest one has it. */
  async function publishOn(
    tx: Tx,
    principal: TenantPrincipal,
    target: VisibleScreen,
    content: VersionContent,
    from?: number,
  ): Promise<BulkOutcome> {
    const { screen, row: previous, layers, noted } = target;
    const changed = !hasSameContent(previous, content, tx.now);
    const { version } = changed
      ? await putNextVersion(deps, tx, principal, {
          screen,
          previous,
          layers,
          noted,
          content,
          origin: 'published',
          ...(from !== undefined && { from }),
        })
      : await adopt(tx, previous);
    return { version, changed };
  }

  type Act = (target: VisibleScreen) => Promise<BulkOutcome>;

  /** Returns the work for one screen. Throws `invalid_request` for an end in the past. */
  async function prepareAct(
    tx: Tx,
    principal: TenantPrincipal,
    { action, items, until, validUntil, to }: BulkPublication,
    targets: readonly TargetScreen[],
  ): Promise<Act> {
    const end = validUntil == null ? validUntil : epochMs(validUntil);
    if (end != null && end <= tx.now)
      throw invalid([{ path: '/validUntil', message: 'must be in the future' }]);
    if (action === 'withdraw')
      return async ({ screen, row }) => {
        const isPresent = row !== undefined && row.state !== 'withdrawn';
        if (isPresent) await withdrawVersion(deps, tx, principal, screen, row);
        return { version: null, changed: isPresent };
      };
    if (action === 'takeover') {
      const takeover = await storeTakeover(
        tx,
        principal,
        principal.tenantId,
        {
          items: items ?? [],
          until: until ?? tx.now,
        },
        quota,
      );
      return async ({ screen, row, layers = emptyLayers('screen', screen) }) => {
        await putTakeover(deps, tx, principal, { screen, layers, takeover });
        return { version: versionOf(row), changed: true };
      };
    }
    if (action === 'publish') {
      const { tenantId } = principal;
      const content = publishedContent(tenantId, items ?? [], end ?? null);
      await requireMedia(tx, principal, content.mediaIds);
      const isNew = ({ screen, row }: TargetScreen) =>
        screen && !hasSameContent(row, versionContent(tenantId, content), tx.now);
      const stored = targets.some(isNew)
        ? await storeItems(tx, tenantId, content, quota)
        : versionContent(tenantId, content);
      return (target) => publishOn(tx, principal, target, stored);
    }
    const found = await Promise.all(targets.map((target) => readFormer(tx, target, to)));
    const former = new Map(
      targets.map(({ id }, place) => [id, found[place] as Playlist | BulkErrorCode]),
    );
    const kept = new Map<string, readonly string[]>();
    for (const id of new Set(found.map((one) => (typeof one === 'string' ? '' : one.contentId)))) {
      const mediaIds = id === '' ? undefined : await keepItems(tx, id);
      if (mediaIds) kept.set(id, mediaIds);
    }
    for (const mediaIds of kept.values()) await requireMedia(tx, principal, mediaIds);
    return async (target) => {
      const version = former.get(target.id) ?? 'playlist_not_found';
      if (typeof version === 'string') return { code: version };
      const mediaIds = kept.get(version.contentId);
      if (!mediaIds) return { code: 'playlist_not_found' };
      const endsAt = end === undefined ? version.validUntil : end;
      if (endsAt !== null && endsAt <= tx.now) return { code: 'invalid_request' };
      const content = { contentId: version.contentId, validUntil: endsAt, mediaIds };
      return publishOn(tx, principal, target, content, version.version);
    };
  }

  /** Adds whether TVs play the playlist now. */
  async function resultOf({
    id: screenId,
    screen,
    outcome,
  }: TargetScreen & { outcome: BulkOutcome }): Promise<BulkResult> {
    if ('code' in outcome) return { screenId, ...outcome };
    const hasPlaylist = screen !== undefined && outcome.version !== null;
    const playing = hasPlaylist && (await isBasePlaying(store.read, screen, store.now()));
    return { screenId, ...outcome, playing };
  }

  async function changeOne(
    { screen, ...target }: TargetScreen,
    { ifVersions = {}, ifTakeovers = {} }: BulkPublication,
    act: Act,
    nowMs: number,
  ): Promise<BulkOutcome> {
    if (!screen) return { code: 'screen_not_found' };
    const { [target.id]: version } = ifVersions;
    const { [target.id]: etag } = ifTakeovers;
    const taken = takeoverRevision(target.layers, nowMs);
    const isAsRead =
      (version === undefined || isUnchanged(target, version)) &&
      (etag === undefined || (etag === null ? !taken : matchesRevision(etag, taken)));
    return isAsRead ? act({ ...target, screen }) : { code: 'precondition_failed' };
  }

  /**
   * Changes the playlists of the screens in one transaction, or reports why a screen is not
   * changed. A repeat with the same `Idempotency-Key` changes nothing: it returns the same
   * outcomes, with the versions of now. Throws `venue_not_found`, `invalid_request`.
   */
  return async (
    principal: TenantPrincipal,
    body: BulkPublication,
    request?: IdempotentRequest,
  ): Promise<BulkResults> => {
    const begin = await prepareCreation(deps, principal, request);
    const { ids, next } = await select(principal, body);
    const change = async (tx: Tx) => {
      const creation = await begin(tx);
      const targets = await readTargets(tx, principal, ids);
      const { earlierId } = creation;
      if (earlierId !== undefined) {
        // Without the letters of other screens, if a selector now finds others.
        const known = earlierId.length === targets.length ? earlierId : '';
        return targets.map((target, place) => ({
          ...target,
          outcome: repeatedOutcome(target, known.charAt(place)),
        }));
      }
      const act = await prepareAct(tx, principal, body, targets);
      const done: (TargetScreen & { outcome: BulkOutcome })[] = [];
      for (const target of targets)
        done.push({ ...target, outcome: await changeOne(target, body, act, tx.now) });
      await creation.remember(done.map(({ outcome }) => letterOf(outcome)).join(''));
      return done;
    };
    const outcomes = await quota.run(() => deps.write(principal, change));
    const results = await Promise.all(outcomes.map(resultOf));
    return { results, nextCursor: next };
  };
}
