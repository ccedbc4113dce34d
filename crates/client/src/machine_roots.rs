//! TLS that reads the machine's root certificates with its first handshake: reading all of them takes memory and milliseconds, a client
//! of a server on the same machine needs none, and a small container may have none.

use std::sync::{Arc, LazyLock, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// TLS settings that trust what the machine trusts, shared by all clients of the process. A handshake fails while the machine's root
/// certificates cannot be read. The process needs a default provider of cryptography.
pub(crate) fn config() -> ClientConfig {
    static CONFIG: LazyLock<ClientConfig> = LazyLock::new(|| {
        let builder = ClientConfig::builder();
        let roots = MachineRoots {
            provider: builder.crypto_provider().clone(),
            verifier: OnceLock::new(),
        };
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(roots))
            .with_no_client_auth();
        // The HTTP client adds none to settings that it did not make, and may be compiled without HTTP/2.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    });
    CONFIG.clone()
}

/// The platform's verifier, made when it is first asked.
#[derive(Debug)]
struct MachineRoots {
    provider: Arc<CryptoProvider>,
    verifier: OnceLock<Verifier>,
}

impl MachineRoots {
    /// After an error, the next handshake tries again: the certificates may be installed meanwhile.
    fn verifier(&self) -> Result<&Verifier, Error> {
        if let Some(verifier) = self.verifier.get() {
            return Ok(verifier);
        }
        let made = Verifier::new(self.provider.clone())?;
        Ok(self.verifier.get_or_init(|| made))
    }
}

impl ServerCertVerifier for MachineRoots {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.verifier()?
            .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use rustls::pki_types::PrivateKeyDer;
    use rustls::pki_types::pem::PemObject;
    use rustls::{ServerConfig, ServerConnection};

    use super::*;
    use crate::address::BaseUrl;
    use crate::transport::{Timeouts, http_client};

    const AUTHORITY: &[u8] = include_bytes!("../tests/fixtures/authority.pem");
    /// For `storage.example.com`, by that authority, from November 2026 on for 800 days: Apple's systems accept none for much longer.
    const STORAGE: &[u8] = include_bytes!("../tests/fixtures/storage.pem");
    const STORAGE_KEY: &[u8] = include_bytes!("../tests/fixtures/storage.key");
    /// A time within them, in seconds.
    const NOW: Duration = Duration::from_secs(1_800_000_000);

    fn certificate(pem: &[u8]) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(pem).unwrap()
    }

    fn verify(roots: &MachineRoots, name: &str) -> Result<ServerCertVerified, Error> {
        let name = ServerName::try_from(name).unwrap();
        roots.verify_server_cert(&certificate(STORAGE), &[], &name, &[], UnixTime::since_unix_epoch(NOW))
    }

    #[test]
    fn a_certificate_counts_as_the_machine_says() {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let strangers = MachineRoots {
            provider: provider.clone(),
            verifier: OnceLock::new(),
        };
        assert!(
            verify(&strangers, "storage.example.com").is_err(),
            "no machine trusts its authority"
        );
        let trusting = Verifier::new_with_extra_roots([certificate(AUTHORITY)], provider.clone()).unwrap();
        let known = MachineRoots {
            provider,
            verifier: OnceLock::from(trusting),
        };
        assert!(verify(&known, "storage.example.com").is_ok());
        assert!(verify(&known, "other.example.com").is_err());
    }

    /// Answers the handshake of one client; returns what came of it.
    fn shake_hands(listener: &TcpListener) -> io::Result<(usize, usize)> {
        let key = PrivateKeyDer::from_pem_slice(STORAGE_KEY).unwrap();
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate(STORAGE)], key)
            .unwrap();
        let mut connection = ServerConnection::new(Arc::new(config)).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        connection.complete_io(&mut stream)?;
        // With TLS 1.3 the answer to the certificate comes after the handshake.
        connection.complete_io(&mut stream)
    }

    #[tokio::test]
    async fn a_client_of_plain_http_trusts_no_stranger() {
        let base: BaseUrl = "http://127.0.0.1:8787".parse().unwrap();
        let client = http_client(&base, &Timeouts::default()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
        let server = thread::spawn(move || shake_hands(&listener));
        let error = client.get(url).send().await.unwrap_err();
        assert!(error.is_connect(), "{error:?}");
        let refused = server.join().unwrap().unwrap_err();
        assert!(refused.to_string().contains("alert"), "{refused}");
    }
}
