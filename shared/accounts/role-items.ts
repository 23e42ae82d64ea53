import { boundTo, decodePrincipals, encodePrincipals, parseTrustPolicy } from '../access/policies/policy.ts';
import type { PrincipalIds, TrustPolicy } from '../access/policies/policy.ts';
import type { Attributes } from '../ports/key-value-table.ts';

/** What a role has besides what carries policies. */
export interface RoleProperties {
  /** The text of the trust policy. */
  readonly trust: string;
  readonly description: string | undefined;
  /** The longest session, in seconds. */
  readonly maxSession: number;
}

const hour = 3600;

/** Returns the properties of a role. */
export function decodeRole(item: Attributes): RoleProperties {
  return {
    trust: item['trust'] as string,
    description: item['description'] as string | undefined,
    maxSession: (item['maxSession'] as number | undefined) ?? hour,
  };
}

/** Returns the attributes of a trust policy. @param principals those that it names, as they are now */
export function trustAttributes(text: string, principals: PrincipalIds) {
  return { trust: text, trusted: encodePrincipals(principals) };
}

/** Returns the trust policy of a role, bound to the principals that it named when it was set. */
export function decodeTrust(item: Attributes): TrustPolicy {
  return boundTo(parseTrustPolicy(item['trust'] as string), decodePrincipals(item['trusted']));
}
