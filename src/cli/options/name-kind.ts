/** What a name on the command line may be the name of: completion offers those that there are. */
export type NameKind = 'tenant' | 'token' | 'venue' | 'screen' | 'device' | 'context';
