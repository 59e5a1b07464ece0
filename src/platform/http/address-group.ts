import ipaddr from 'ipaddr.js';

/**
 * What a client address counts as in limits: an IPv4 address for itself, however it is written, and an IPv6 address as
 * its /64, of which one household has 2^64 addresses to choose from. Anything else counts for itself.
 */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address); // an IPv4-mapped address is the IPv4 address
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
