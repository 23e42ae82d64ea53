/** The end of work for a client that has closed its connection: there is nobody to answer. */
export class ClientGone extends Error {
  constructor() {
    super('the client has closed its connection');
    this.name = 'ClientGone';
  }
}
