import type { Connector } from './connector.ts';
import type { Problem } from './problem.ts';

/** What is wrong with a provider and what to do about it, as one or two sentences for people. */
export function adviceFor(
  { name, credential }: Pick<Connector, 'name' | 'credential'>,
  { kind, message }: Pick<Problem, 'kind' | 'message'>,
): string {
  const scopes = credential.scopes.join(', ');
  switch (kind) {
    case 'refused':
      return `${name} refuses the ${credential.label}. Create a new one${scopes && ` with these scopes: ${scopes}`}.`;
    case 'not permitted':
      return `The ${credential.label} may not read this.${scopes && ` It needs these scopes: ${scopes}.`}`;
    case 'rate limited':
      return `${name} is called too often with this ${credential.label}, perhaps by others too. We wait, and go on.`;
    case 'unavailable':
      return `${name} ${message}. We keep trying.`;
    case 'unexpected':
      return `${name} ${message}. We keep trying.`;
    case 'invalid':
      return message;
  }
}
