/** No name ends so (RFC 6761 §6.4): what is addressed below it is addressed by nobody. */
const nowhere = 'invalid';

/** The names that buckets and websites are addressed below. Without a domain there are none. */
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
