import { hkdfSync } from 'node:crypto';
import { aesKeySize } from '../../shared/adapters/system/aes-secrets.ts';

/** The keys of a cloud deployment. */
export interface DeploymentKeys {
  /** Encrypts the secrets of access keys. */
  readonly sealing: Uint8Array;
  /** Binds continuation tokens to the deployment. */
  readonly tokens: Uint8Array;
}

/**
 * Derives the keys of a deployment from its secret (HKDF, RFC 5869). So functions that may only read the table need not store a key
 * there, and no key can be lost alone.
 */
export function deploymentKeys(secret: string): DeploymentKeys {
  // 43 characters of base64, or as many letters and digits, hold the 256 bits of a key.
  if (secret.length < 43) throw new Error('the secret of the deployment is too short');
  const derive = (purpose: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', secret, '', `stillage ${purpose}`, aesKeySize));
  return { sealing: derive('sealing'), tokens: derive('tokens') };
}
