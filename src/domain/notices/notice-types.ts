/** What notices tell (docs/protocol.md §5.16). */
export const noticeTypes = [
  'claim.waiting',
  'screen.paired',
  'device.revoked',
  'screen.dark',
  'screen.failing',
  'screen.recovered',
  'venue.dark',
  'venue.recovered',
  'playlist.published',
  'playlist.ended',
  'registration.locked_out',
  'webhook.paused',
  'webhook.disabled',
] as const;
export type NoticeType = (typeof noticeTypes)[number];
