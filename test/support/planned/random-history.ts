import { expect } from 'vitest';
import { minuteMs } from '../../../src/domain/clock.ts';
import type { ManualClock } from '../runtime/manual-clock.ts';
import { manager } from '../service/management.ts';
import type { Answer, TestService } from '../service/service.ts';
import type { Entry, Item, ModelScreen, Story, World } from './plan-oracle.ts';
import { type RandomInputs, stored } from './random-inputs.ts';

const sentItems = (items: readonly Item[]) =>
  items.map((item) => ({
    ...item,
    creativeUrl: `https://media.example.com/${item.creativeId}.png`,
    creativeType: 'image',
  }));
const sentEntries = (entries: readonly Entry[]) =>
  entries.map(({ items, ...times }) => ({ ...times, ...(items && { items: sentItems(items) }) }));
const storedAll = <T extends object>(list: T[] | null): T[] | null => list?.map(stored) ?? null;

/** Changes what screens play, at random, and notes what holds from when on. */
export class RandomHistory {
  readonly story: Story = [];
  readonly #world: World = { venues: {}, screens: {} };
  readonly #devices = new Map<string, string>();
  readonly #service: TestService<ManualClock>;
  readonly #random: RandomInputs;
  readonly #zone: string;
  #count = 0;

  constructor(service: TestService<ManualClock>, random: RandomInputs, zone: string) {
    this.#service = service;
    this.#random = random;
    this.#zone = zone;
  }

  get #admin() {
    return manager(this.#service);
  }

  /** Notes what holds now. */
  note(): void {
    const minute = this.#service.clock.now() / minuteMs;
    if (this.story.at(-1)?.minute === minute) this.story.pop();
    this.story.push({ minute, world: structuredClone(this.#world) });
  }

  /** Makes a venue and a screen that plays. */
  async begin(): Promise<void> {
    await this.#newVenue(this.#zone);
    const id = await this.#newScreen();
    await this.#bind(id, false);
    await this.#publish(this.#screen(id), this.#random.items());
    this.note();
  }

  /** Makes a random change, which may be refused. */
  async step(): Promise<void> {
    const random = this.#random;
    const { venues, screens } = this.#world;
    const screen = random.oneOf(Object.values(screens));
    const venueId = random.oneOf(Object.keys(venues));
    if (!screen) {
      if (venueId === undefined) await this.#newVenue(this.#zone);
      else await this.#newScreen();
    } else await random.oneOf(this.#steps(screen, venueId))();
    this.note();
  }

  #steps(screen: ModelScreen, venueId: string): (() => Promise<unknown>)[] {
    const random = this.#random;
    const { venues, screens } = this.#world;
    const venue = venues[venueId] as World['venues'][string];
    const hasZone = venues[screen.venueId]?.timezone !== null;
    const at = `/v1/screens/${screen.id}`;
    const atVenue = `/v1/venues/${venueId}`;
    const publish = () => this.#publish(screen, random.items());
    const takeOver = async () => {
      const items = random.items();
      const until = random.soon();
      const answer = await this.#admin.put(`${at}/takeover`, { items: sentItems(items), until });
      if (answer.status === 200) screen.takeover = { items, untilMs: until * 1000 };
    };
    const schedule = () =>
      this.#schedule(screen, at, random.chance(0.2) ? [] : random.entries(hasZone));
    return [
      async () => {
        if (Object.keys(venues).length < 3)
          await this.#newVenue(random.chance(0.7) ? this.#zone : random.oneOf([null, 'UTC']));
      },
      async () => {
        if (Object.keys(screens).length < 4) await this.#newScreen();
      },
      () => this.#setHours(venue, atVenue),
      () => this.#setHours(screen, at),
      async () => {
        const timezone = random.chance(0.8) ? random.zone()[0] : null;
        const answer = await this.#admin.patch(atVenue, { timezone });
        if (answer.status === 200) venue.timezone = timezone;
      },
      publish,
      publish,
      () => this.#publish(screen, screen.base?.items ?? random.items()),
      async () => {
        await this.#admin.delete(`${at}/playlist`);
        screen.base = null;
      },
      () => this.#rollBack(screen),
      schedule,
      schedule,
      () => this.#schedule(venue, atVenue, random.entries(venue.timezone !== null)),
      () => this.#schedule(screen, at, null),
      () => this.#schedule(venue, atVenue, null),
      takeOver,
      takeOver,
      async () => {
        await this.#admin.delete(`${at}/takeover`);
        screen.takeover = null;
      },
      async () => {
        await this.#revoke(screen.id);
        if (random.chance(0.7)) await this.#bind(screen.id, random.chance(0.25));
      },
      async () => {
        if (random.chance(0.5)) return;
        await this.#revoke(screen.id);
        await this.#delete(screen);
      },
    ];
  }

  #screen = (id: string) => this.#world.screens[id] as ModelScreen;

  async #newVenue(timezone: string | null): Promise<void> {
    const none = { hours: null, hoursExceptions: null };
    const { hours, hoursExceptions } = timezone === null ? none : this.#random.hours();
    const times = { timezone, hours, hoursExceptions };
    const { id } = await this.#admin.venue(`Venue ${++this.#count}`, times);
    this.#world.venues[id] = {
      timezone,
      hours: storedAll(hours),
      hoursExceptions: storedAll(hoursExceptions),
      schedule: null,
    };
  }

  async #newScreen(): Promise<string> {
    const venueId = this.#random.oneOf(Object.keys(this.#world.venues));
    const { id } = await this.#admin.screen(venueId, `Screen ${++this.#count}`);
    const none = { hours: null, hoursExceptions: null, schedule: null, takeover: null, base: null };
    this.#world.screens[id] = { id, venueId, hasTv: false, ...none };
    return id;
  }

  async #setHours(place: World['venues'][string] | ModelScreen, path: string): Promise<void> {
    const { hours, hoursExceptions } = this.#random.hours();
    const answer = await this.#admin.patch(path, { hours, hoursExceptions });
    if (answer.status !== 200) return;
    place.hours = storedAll(hours);
    place.hoursExceptions = storedAll(hoursExceptions);
  }

  async #schedule(
    place: World['venues'][string] | ModelScreen,
    path: string,
    entries: Entry[] | null,
  ): Promise<void> {
    const answer = await (entries === null
      ? this.#admin.delete(`${path}/schedule`)
      : this.#admin.put(`${path}/schedule`, { entries: sentEntries(entries) }));
    if (answer.status < 300) place.schedule = storedAll(entries);
  }

  async #publish(screen: ModelScreen, items: Item[]): Promise<void> {
    const until = this.#random.chance(0.4) ? this.#random.soon() : undefined;
    const body = { items: sentItems(items), ...(until !== undefined && { validUntil: until }) };
    const answer = await this.#admin.put(`/v1/screens/${screen.id}/playlist`, body);
    expect(answer.status, answer.text).toBe(200);
    screen.base = { items, untilMs: until === undefined ? null : until * 1000 };
  }

  async #rollBack({ id }: ModelScreen): Promise<void> {
    const validUntil = this.#random.oneOf([undefined, null, this.#random.soon()]);
    await this.#admin.post('/v1/publications', {
      action: 'rollback',
      screenIds: [id],
      ...(validUntil !== undefined && { validUntil }),
    });
    const { status, body } = await this.#admin.get(`/v1/screens/${id}/playlist`);
    const untilMs = body?.validUntil == null ? null : body.validUntil * 1000;
    const isActive = status === 200 && body.status === 'active';
    this.#screen(id).base = isActive ? { items: body.items, untilMs } : null;
  }

  async #bind(id: string, simulated: boolean): Promise<void> {
    const { body } = await this.#admin.post('/v1/devices/provisioning-codes', {
      screenId: id,
      simulated,
    });
    const answer: Answer = await this.#service.register(body.code);
    expect(answer.status, answer.text).toBe(201);
    this.#devices.set(id, answer.body.deviceId);
    this.#screen(id).hasTv = !simulated;
  }

  async #revoke(id: string): Promise<void> {
    const device = this.#devices.get(id);
    if (device === undefined) return;
    await this.#admin.post(`/v1/devices/${device}/revoke`);
    this.#devices.delete(id);
    this.#screen(id).hasTv = false;
  }

  /** Deletes a screen, and its venue if it has no other. */
  async #delete({ id, venueId }: ModelScreen): Promise<void> {
    expect((await this.#admin.delete(`/v1/screens/${id}`)).status).toBe(204);
    delete this.#world.screens[id];
    const { status } = await this.#admin.delete(`/v1/venues/${venueId}`);
    if (status === 204) delete this.#world.venues[venueId];
  }
}
