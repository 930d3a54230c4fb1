// Names for the types of the API, which follow from the zod schemas in `domain/`.
import type { CallAnswer, CallInput, ListItem } from './call.ts';

export type Tenant = CallAnswer<'getTenant'>;
export type Token = CallAnswer<'getToken'>;
/** A new token, including its secret, `mak_…`. */
export type CreatedToken = CallAnswer<'createToken'>;
export type Venue = CallAnswer<'getVenue'>;
export type Screen = CallAnswer<'getScreen'>;
export type ScreenStatus = ListItem<'listScreenStatus'>;
export type Device = CallAnswer<'getDevice'>;
export type PairingCode = CallAnswer<'createCode'>;
export type CodeStatus = CallAnswer<'getCodeStatus'>;
/** The answer to a TV that makes a claim. It contains the secret of the claim, `clm_…`. */
export type CreatedClaim = CallAnswer<'createClaim'>;
/** The status of a claim, as its TV reads it. */
export type ClaimStatus = CallAnswer<'getClaimStatus'>;
/** The screen that an installer offered to the TV that shows a claim. */
export type ClaimOffer = NonNullable<ClaimStatus['offer']>;
/** The TV that shows a claim, as an installer sees it. */
export type Claim = CallAnswer<'getClaim'>;
/** A ticket, with which TVs enrol themselves. */
export type Ticket = ListItem<'listTickets'>;
/** A new ticket, including its secret, `tkt_…`. */
export type CreatedTicket = CallAnswer<'createTicket'>;
/** A playlist in the management API. */
export type Playlist = CallAnswer<'readPlaylist'>;
/** A playlist as TVs get it: `validUntil` is always set. */
export type ActivePlaylist = CallAnswer<'getPlaylist'>;
/** The answer to a refresh of an on-demand playlist. */
export type PlaylistRefresh = CallAnswer<'refreshPlaylist'>;
export type PlaylistItem = ActivePlaylist['items'][number];
/** The effective config of a device. */
export type DeviceConfig = CallAnswer<'getDeviceConfig'>;
/** The ETags of a device's current playlist and config. */
export type DeviceChanges = CallAnswer<'getDeviceChanges'>;
/** The answer to a registration. It contains the device key, `dak_…`. */
export type Registered = CallAnswer<'registerDevice'>;
/** An event as the service stored it. */
export type StoredEvent = ListItem<'listEvents'>;
/** What the service tells about screens, venues, playlists and registrations. */
export type Notice = ListItem<'listNotices'>;
export type ImpressionReport = CallAnswer<'reportImpressions'>;
/** A campaign and its booking. */
export type Campaign = CallAnswer<'getCampaign'>;
export type AuditEntry = ListItem<'listAudit'>;
export type TvRequest = ListItem<'listRequests'>;
/** A file that the service keeps for playlists. */
export type Media = CallAnswer<'getMedia'>;
export type MirrorCopy = ListItem<'listMirror'>;

export type Registration = CallInput<'registerDevice'>['body'];
/**
 * Information that a TV sends about itself.
 */
export type DeviceInfoInput = Registration['deviceInfo'];
/** The content of a playlist to publish. */
export type Publication = CallInput<'publishPlaylist'>['body'];
/** The config of a screen, a venue or a tenant. */
export type ConfigInput = CallInput<'putScreenConfig'>['body'];
/** An event to send: an impression, a heartbeat, or any other type with any members. */
export type EventInput = CallInput<'postEvents'>['body'][number];
