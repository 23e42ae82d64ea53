/** Keeps small secrets (access keys) unreadable at rest. Local: a key file; in the cloud: a KMS data key. */
export interface Secrets {
  /** Encrypts and authenticates. `context` must be given again to open: it binds the secret to its place. */
  seal(plaintext: Uint8Array, context: string): Promise<Uint8Array>;
  /** @throws Error if it was not sealed by this key under this context */
  open(sealed: Uint8Array, context: string): Promise<Uint8Array>;
}
