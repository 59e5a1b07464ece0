/** A page that needs no styles, scripts or assets. Nothing in it is escaped. */
export const plainPage = (title: string, text: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<body style="font: 1rem/1.5 system-ui; max-width: 36rem; margin: 4rem auto; padding: 0 1rem">
<h1>${title}</h1>
${text}
</body>
</html>
`;
