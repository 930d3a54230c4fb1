import type { ActivePlaylist, PlaylistItem } from '../../../src/client/entities.ts';
import {
  changesAnswers,
  changesBodies,
  changesEvents,
  changesHeader,
  changesRequests,
  type Link,
  type LinkAnswer,
  type LinkRequest,
  linked,
  type Operation,
  problem,
  repeats,
  without,
} from './link.ts';
import type { Defects } from './seeded-defect.ts';
import { unseenOffline } from './unseen-offline.ts';

const uses = 'changes';
const fetches: readonly Operation[] = ['config', 'playlist'];
const notModified = { status: 304, headers: {}, json: undefined };
const noPlaylist = problem(404, 'playlist_not_found');

/** Answers a call in place of the service. */
const answersItself =
  (operation: Operation, answer: () => object): Link =>
  (send) =>
  async (request) =>
    request.operation === operation
      ? { status: 200, headers: { etag: '"own"' }, json: answer() }
      : send(request);

/** Never asks for its config, and keeps the one of its registration. */
const registeredConfig: Link = (send, tv) => {
  let config = {};
  return linked(
    answersItself('config', () => config),
    changesBodies((registered) => {
      config = registered.config;
      return registered;
    }, 'register'),
  )(send, tv);
};

/** Fetches its config some times, and then never again. */
const configTimes =
  (times: number): Link =>
  (send) => {
    let sent = 0;
    return async (request) =>
      request.operation === 'config' && ++sent > times ? notModified : send(request);
  };

/** Plays on when it is revoked, and reports that when it has its next key. */
const playsOnWhenRevoked: Link = (send, { clock }) => {
  let playlist: ActivePlaylist | undefined;
  let fetchedMs = 0;
  let played: object | undefined;
  const batches = new Map<string | undefined, object>();
  return async (request) => {
    const { operation, headers, body } = request;
    const key = headers['idempotency-key'];
    if (operation === 'events' && played) {
      batches.set(key, played);
      played = undefined;
    }
    const added = operation === 'events' ? batches.get(key) : undefined;
    const events = JSON.parse(body ?? '[]');
    const answer = await send(
      added ? { ...request, body: JSON.stringify([added, ...events]) } : request,
    );
    if (operation === 'playlist' && answer.status === 200) {
      playlist = answer.json;
      fetchedMs = clock.now();
    }
    if (operation === 'register' && answer.status === 201 && playlist?.items[0]) {
      const { creativeId, campaignId } = playlist.items[0];
      const timestamp = Math.floor(clock.now() / 1000);
      const duration = (clock.now() - fetchedMs) / 1000;
      const members = { playlistId: playlist.id, creativeId, campaignId, duration };
      played = { type: 'impression', timestamp, ...members };
    }
    return answer;
  };
};

/** Reports the duration that the playlist gives an item. */
const plannedSeconds: Link = (send, tv) => {
  const durations = new Map<string, number>();
  return linked(
    changesEvents((event) =>
      durations.has(event.creativeId)
        ? { ...event, duration: durations.get(event.creativeId) }
        : event,
    ),
    changesBodies((playlist) => {
      for (const { creativeId, duration } of playlist.items) durations.set(creativeId, duration);
      return playlist;
    }, 'playlist'),
  )(send, tv);
};

const movesEnd = (seconds: number): Link =>
  changesBodies(
    ({ validUntil, ...playlist }) => ({ ...playlist, validUntil: validUntil + seconds }),
    'playlist',
  );

const changesConfig = (change: (config: Record<string, number>) => object): Link =>
  linked(
    changesBodies(change, 'config'),
    changesBodies(({ config, ...registered }) => {
      return { ...registered, config: change(config) };
    }, 'register'),
  );

/** Takes the first value for all later ones with the same name. */
function kept<T>(name: (value: T) => string): (value: T) => T {
  const values = new Map<string, T>();
  return (value) => {
    const first = values.get(name(value)) ?? value;
    values.set(name(value), first);
    return first;
  };
}

/** Plays the first item, then every second one. */
function everySecond(playlist: ActivePlaylist): ActivePlaylist {
  const { items } = playlist;
  const inOrder = items.map((_, place) => items[(2 * place) % items.length] as PlaylistItem);
  return { ...playlist, items: inOrder };
}

/** Gives each item twice its duration. */
function twiceAsLong({ items, entries, base, ...playlist }: ActivePlaylist): object {
  const twice = (list: readonly PlaylistItem[]) =>
    list.map((item) => ({ ...item, duration: 2 * item.duration }));
  const lists = Object.entries(entries ?? {});
  return {
    ...playlist,
    items: twice(items),
    ...(base && { base: twice(base) }),
    ...(entries && { entries: Object.fromEntries(lists.map(([id, list]) => [id, twice(list)])) }),
  };
}

/** Takes each span to begin 15 seconds before its time. */
function switchesEarly(playlist: ActivePlaylist): ActivePlaylist {
  const upcoming = playlist.upcoming?.map(({ from, until, ...span }) => ({
    ...span,
    from: from - 15,
    until: until - 15,
  }));
  return upcoming ? { ...playlist, upcoming } : playlist;
}

/** Sends nothing any more after four failures in a row. */
const givesUp: Link = (send) => {
  let failures = 0;
  return async (request) => {
    if (failures > 3) return { status: 0, headers: {}, json: undefined };
    const answer = await send(request);
    failures = answer.status === 0 ? failures + 1 : 0;
    return answer;
  };
};

/** Never asks for a playlist again after a 404. */
const staysDark: Link = (send) => {
  let isDark = false;
  return async (request) => {
    if (request.operation !== 'playlist') return send(request);
    if (isDark) return noPlaylist;
    const answer = await send(request);
    isDark = answer.status === 404;
    return answer;
  };
};

/** Asks for its config four times as often as the player. */
const pollsConfigOften: Link = (send, tv) => {
  let latest: object | undefined;
  return async (request) => {
    const answer = await send(request);
    if (request.operation !== 'config' || ![200, 304].includes(answer.status)) return answer;
    const headers = { ...request.headers, 'if-none-match': String(answer.headers.etag) };
    const { signal } = new AbortController();
    latest = request;
    const poll = async () => {
      for (let left = 3; left > 0 && latest === request; left--) {
        await tv.pause(15_000);
        if (latest !== request) return;
        const { status } = await send({ ...request, headers, signal });
        if (![200, 304].includes(status)) latest = undefined;
      }
    };
    poll().catch(() => {});
    return answer;
  };
};

/** Asks for a playlist every three seconds. The player gets the one found when it asks again. */
const pollsWhileAbsent: Link = (send, tv) => {
  let found: Promise<LinkAnswer> | undefined;
  const poll = async (request: LinkRequest) => {
    const { signal } = new AbortController();
    for (;;) {
      await tv.pause(3000);
      const answer = await send({ ...request, signal });
      if (answer.status !== 404) return answer;
    }
  };
  return async (request) => {
    if (request.operation !== 'playlist') return send(request);
    if (found) {
      const answer = await found;
      found = undefined;
      return answer;
    }
    const answer = await send(request);
    if (answer.status === 404) {
      found = poll(request);
      found.catch(() => {
        found = undefined;
      });
    }
    return answer;
  };
};

/** Asks for its playlist every five minutes after a 500 for its config. */
const defaultConfigAfter500: Link = (send, { clock }) => {
  let silentUntilMs = 0;
  return async (request) => {
    const { operation, headers } = request;
    if (operation === 'playlist' && clock.now() < silentUntilMs)
      return headers['if-none-match'] ? notModified : noPlaylist;
    const answer = await send(request);
    if (operation === 'config') silentUntilMs = answer.status === 500 ? clock.now() + 300_000 : 0;
    return answer;
  };
};

/** Asks again at once while nothing changes. */
const hotLoop: Link = (send) => async (request) => {
  const answer = await send(request);
  if (request.operation !== 'changes' || answer.status !== 200) return answer;
  const after = new URL(request.url).searchParams.get('after');
  let next = answer;
  while (next.status === 200 && next.json.cursor === after) next = await send(request);
  return next;
};

/** Keeps the ETags of what the player has fetched. */
function trackEtags(etags: Map<Operation, unknown>): Link {
  return changesAnswers((answer, { operation }) => {
    if (answer.status === 200) etags.set(operation, answer.headers.etag);
    if (answer.status === 404) etags.delete(operation);
    return answer;
  });
}

/** Tells the player of no change, by naming the content that it has. */
const hidesChanges: Link = (send, tv) => {
  const etags = new Map<Operation, unknown>();
  return linked(
    changesBodies((changes) => {
      const etag = etags.get('playlist');
      const playlist = etag === undefined ? null : { ...changes.playlist, etag };
      return { ...changes, playlist, config: { etag: etags.get('config') } };
    }, 'changes'),
    trackEtags(etags),
  )(send, tv);
};

/** Fetches only after an answer about changes. */
const onlyAfterHints: Link = (send, tv) => {
  const etags = new Map<Operation, unknown>();
  const hinted = new Set<Operation>();
  const fetchIfHinted: Link = (next) => async (request) => {
    const isPoll = request.headers['if-none-match'] && !hinted.delete(request.operation);
    return isPoll && fetches.includes(request.operation) ? notModified : next(request);
  };
  return linked(
    changesBodies((changes) => {
      if (changes.config.etag !== etags.get('config')) hinted.add('config');
      if (changes.playlist?.etag !== etags.get('playlist')) hinted.add('playlist');
      return changes;
    }, 'changes'),
    fetchIfHinted,
    trackEtags(etags),
  )(send, tv);
};

/** Defects of polling, playing and `GET …/changes`. */
export const playingDefects: Defects = {
  'never fetches its config': { link: registeredConfig },
  'fetches its config once': { link: configTimes(1) },
  'never fetches its config again after a while': { link: configTimes(2) },
  'plays on when it is revoked': { link: playsOnWhenRevoked },
  'plays a playlist beyond its end': { link: movesEnd(86_400) },
  'takes the end of a playlist for a time of its own wrong clock': { link: movesEnd(-90) },
  'reports the duration of the playlist': { link: plannedSeconds },
  'never fetches its playlist': {
    link: (send) => async (request) =>
      request.operation === 'playlist' ? noPlaylist : send(request),
  },
  'polls more often than the config says': { link: pollsConfigOften },
  'sends heartbeats too rarely': {
    link: changesConfig((config) => ({
      ...config,
      heartbeatIntervalMinutes: 3 * (config.heartbeatIntervalMinutes ?? 1),
    })),
  },
  'ignores a new config': { link: (send, tv) => changesConfig(kept(() => 'all'))(send, tv) },
  'goes back to the default config after a 500': {
    link: defaultConfigAfter500,
    needsFullExam: true,
  },
  'never sends If-None-Match': { link: changesHeader('if-none-match', () => undefined) },
  'skips every second item': { link: changesBodies(everySecond, 'playlist') },
  'shows each item for twice its time': { link: changesBodies(twiceAsLong, 'playlist') },
  'keeps the items of a playlist by its id': {
    link: (send, tv) =>
      changesBodies(
        kept<ActivePlaylist>(({ id }) => id),
        'playlist',
      )(send, tv),
  },
  'goes dark after a 500': {
    link: changesAnswers((answer) => (answer.status === 500 ? noPlaylist : answer), 'playlist'),
  },
  'switches between entries 15 seconds early': { link: changesBodies(switchesEarly, 'playlist') },
  'does not name the entry of an item': {
    link: changesEvents((event) => without(event, 'entryId')),
  },
  'shows a withdrawn playlist': {
    link: changesAnswers(
      (answer, { headers }) =>
        answer.status === 404 && headers['if-none-match'] ? notModified : answer,
      'playlist',
    ),
  },
  'polls fast while there is no playlist': { link: pollsWhileAbsent },
  'never asks again after a 404': { link: staysDark },
  'stops for good without a network': { link: givesUp, needsFullExam: true },
  'goes dark without a network': { style: { makeStage: unseenOffline } },
  'waits for the network before it plays': {
    style: { afterPowerCut: ({ playlist: _, ...kept }) => kept },
  },
  'asks for changes without a pause': { uses, link: hotLoop },
  'does not fetch what has changed': { uses, link: hidesChanges },
  'stops polling while it holds changes': { uses, link: onlyAfterHints },
  'asks for the same hold after a cut': {
    uses,
    link: changesRequests(
      (request) => ({ ...request, url: request.url.replace(/waitSeconds=\d+/, 'waitSeconds=50') }),
      'changes',
    ),
  },
  'asks for changes again after a 404': {
    uses,
    link: repeats(({ status }, { operation }) =>
      operation === 'changes' && status === 404 ? 30_000 : undefined,
    ),
  },
  'asks for changes again before Retry-After': {
    uses,
    link: changesAnswers(
      ({ headers, ...answer }) => ({ ...answer, headers: without(headers, 'retry-after') }),
      'changes',
    ),
  },
};
