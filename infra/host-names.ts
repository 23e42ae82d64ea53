/** A reserved top-level domain (RFC 6761 §6.4), so that no request addresses a name below it. */
const nowhere = 'invalid';

/** Returns the names below which buckets and websites are addressed. Without a domain, these are unused. */
export function hostNamesOf({
  domain = nowhere,
  websiteDomain,
}: {
  readonly domain?: string | undefined;
  readonly websiteDomain?: string | undefined;
}): {
  domain: string;
  websiteDomain: string;
} {
  return { domain, websiteDomain: websiteDomain ?? `website.${nowhere}` };
}
