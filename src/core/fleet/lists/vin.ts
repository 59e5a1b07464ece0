import { isIdentifier, withoutInvisible } from './nothing.ts';

/** A VIN as compared. Of A to Z alone: other letters can become longer in upper case. */
export const upperVin = (text: string): string =>
  withoutInvisible(text).replace(/[a-z]+/g, (letters) => letters.toUpperCase());

const fewest = 4;

/**
 * A VIN as stored and compared; empty for what cannot be one. Those from before 1981 have other
 * lengths than 17, but no VIN is without digits, as words are.
 */
export function vinOf(text: string): string {
  const vin = upperVin(text);
  const characters = vin.replaceAll(/[^\p{L}\p{N}]/gu, '');
  const isOne =
    characters.length >= fewest &&
    /\d/.test(characters) &&
    new Set(characters).size > 1 &&
    isIdentifier(vin);
  return isOne ? vin : '';
}
