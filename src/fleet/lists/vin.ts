const placeholders = new Set(
  'EMPTY MISSING NA NIL NONE NOTAPPLICABLE NOTAVAILABLE NOVIN NULL PENDING TBA TBC TBD'
    .concat(' UNAVAILABLE UNDEFINED UNK UNKNOWN UNKNOWNVIN VIN')
    .split(' '),
);

/** A VIN as compared. Of A to Z alone: other letters can become longer in upper case. */
export const upperVin = (text: string): string =>
  text.trim().replace(/[a-z]+/g, (letters) => letters.toUpperCase());

/** A VIN as stored and compared; empty for a placeholder, such as `N/A`. */
export function vinOf(text: string): string {
  const vin = upperVin(text);
  const characters = vin.replaceAll(/[^\p{L}\p{N}]/gu, '');
  return new Set(characters).size < 2 || placeholders.has(characters) ? '' : vin;
}
