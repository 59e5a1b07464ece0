export const actions = [
  'created',
  'changed',
  'suspended',
  'activated',
  'revoked',
  'invited',
  'scheduled for deletion',
  'deleted',
  'erased',
] as const;
export type Action = (typeof actions)[number];

export const subjects = [
  'account',
  'connection',
  'API token',
  'ingest key',
  'webhook',
  'team channel',
  'connect link',
  'single sign-on',
  'person',
  'driver',
] as const;
export type Subject = (typeof subjects)[number];
