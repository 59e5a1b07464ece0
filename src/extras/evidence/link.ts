import type { NewEvidence } from '../../core/fleet/lists/field-objects.ts';

/** What signs a link in its query, by the name that says who signed it: each listing has other values. */
const signers: { by: string; names: RegExp }[] = [
  { by: 'x-amz-signature', names: /^x-amz-/ },
  { by: 'awsaccesskeyid', names: /^(?:awsaccesskeyid|signature|expires|x-amz-security-token)$/ },
  { by: 'x-goog-signature', names: /^x-goog-/ },
  { by: 'googleaccessid', names: /^(?:googleaccessid|signature|expires)$/ },
  // CloudFront.
  { by: 'key-pair-id', names: /^(?:key-pair-id|signature|expires|policy|hash-algorithm)$/ },
  // Azure.
  {
    by: 'sig',
    names: /^(?:sig|s[eiprstv]|srt|sip|spr|ses|sdd|skoid|sktid|sk[estv]|saoid|suoid|scid)$/,
  },
];

/** A link without what signs it, if that is a known signer. What is unknown may name another file. */
function withoutSignature(link: string): string {
  const url = new URL(link);
  const names = [...url.searchParams.keys()];
  const known = signers.filter(({ by }) => names.some((name) => name.toLowerCase() === by));
  for (const name of names)
    if (known.some((signer) => signer.names.test(name.toLowerCase())))
      url.searchParams.delete(name);
  return url.href;
}

/** Whether a known signer has signed a link, which therefore expires. */
export const isSigned = (link: string): boolean => withoutSignature(link) !== new URL(link).href;

/** Whether two links lead to the same document. */
export const leadToSame = (one: string, other: string): boolean =>
  URL.canParse(one) && URL.canParse(other) && withoutSignature(one) === withoutSignature(other);

/** What identifies a file among those of an accident. */
export const identityOf = ({ kind, url, camera }: NewEvidence): string =>
  `${kind} ${withoutSignature(url)} ${camera ?? ''}`;
