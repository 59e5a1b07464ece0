/** The response header of a cell whose account signs in by a provider of its own: the account's name, and where to. */
export const providerHeader = 'Fleet-Provider';

type ByProvider = { account: string; to?: string };

/** Names can have any text, and headers cannot. */
export const encodeByProvider = (by: ByProvider): string => encodeURIComponent(JSON.stringify(by));

/** What a cell says of its account's provider in a response. */
export const byProviderIn = ({ headers }: { headers: Headers }): ByProvider | undefined => {
  const text = headers.get(providerHeader);
  return text === null ? undefined : JSON.parse(decodeURIComponent(text)); // as a cell wrote it
};
