// The TypeScript SDK of the handshake revisions.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { capabilities, clientInfo, extensions, lookForApps, report, requestInit, studyAndStumble, url } from './journey.mjs';

const client = new Client(clientInfo, { capabilities });
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
await client.connect(transport);
if (extensions) report(await lookForApps(client));
await client.ping();
const seen = { protocol: transport.protocolVersion, ...(await studyAndStumble(client)) };
await client.close();
report(seen);
