declare module 'lucide-static/dist/esm/icons/*.mjs' {
  /** The icon as an SVG document of 24 by 24. */
  const svg: string;
  export default svg;
}
